// Where a program is that is named as a shell would name it. Pure but for looking at files; any
// thread.
#pragma once

#include "messages/error.hpp"

#include <string>
#include <string_view>

namespace hearth::os {

/// Whether there is a file at `path` that may be executed.
bool is_program(const std::string& path);

/// The executable file that `name` means: itself when there is a '/' in it, else the first of that
/// name in the folders of `path`, a list as PATH is one. What is relative (and an empty folder)
/// stands in `directory`. Errors: `program_not_found`, `program_refused`, saying where it was
/// looked for.
expected<std::string> find_program(const std::string& name, std::string_view path,
                                   const std::string& directory);

/// PATH of this process, or what a shell has without one. Not while another thread changes the
/// environment.
std::string_view search_path();

} // namespace hearth::os
