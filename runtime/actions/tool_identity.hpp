// The program of an action in its key: for a compiler all files that it is made of, for another
// program its content and the PATH in which it finds others. Reads files; any thread.
#pragma once

#include "messages/error.hpp"
#include "messages/key_field.hpp"
#include "messages/process.hpp"
#include "runtime/actions/action_key.hpp"

#include <string>

namespace hearth {

struct tool_identity {
  key_field details;
  key_field shown;          ///< the same for people: of a compiler, what it is made of
  std::string path;         ///< PATH of the command
  bool is_compiler = false; ///< a compiler that was asked about itself
};

/// Errors: `program_not_found`, `program_refused`, and those of reading files and of querying a
/// compiler.
expected<tool_identity> identify_tool(const action& asked, const tool_ports& tools);

/// Whether a program of this name is treated as GCC or Clang: "g++-12", "x86_64-linux-gnu-gcc",
/// "clang".
bool is_compiler_name(std::string_view name);

/// Whether a compiler may tell where it runs, by debug information, coverage and their like, and
/// not by the links of the folders of -isystem alone.
bool may_tell_folder(const process_request& run);

/// How a compiler is watched. Compilers read thousands of symbolic links to find their own files,
/// whose identity is in the key. But they may tell where the headers of -isystem really are, and
/// with debug information or coverage where they ran.
watching watching_of_compiler(const process_request& run);

} // namespace hearth
