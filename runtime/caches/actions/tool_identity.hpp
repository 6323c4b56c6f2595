// The program of an action as its key knows it: a compiler by all that it is made of, any other
// program by its content and the PATH in which it finds others. Reads files; any thread.
#pragma once

#include "messages/error.hpp"
#include "messages/key_field.hpp"
#include "runtime/caches/actions/action_key.hpp"

#include <string>

namespace hearth {

struct tool_identity {
  key_field details;
  std::string path; ///< PATH of the command
};

/// Errors: `program_not_found`, `program_refused`, and what reading files and asking a compiler
/// report.
expected<tool_identity> identify_tool(const action& asked, const tool_ports& tools);

/// Whether a program of this name is taken for a compiler as GCC and Clang are: "g++-12",
/// "x86_64-linux-gnu-gcc", "clang".
bool is_compiler_name(std::string_view name);

} // namespace hearth
