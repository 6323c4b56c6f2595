// Finds a program by name, as a shell does. Only reads the file system; any thread.
#pragma once

#include "messages/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace hearth::os {

/// The folders of a list like PATH, in its order; an empty one is the working folder.
std::vector<std::string_view> folders_in(std::string_view search_path);

/// Whether there is a file at `path` that may be executed.
bool is_program(const std::string& path);

/// The executable file that `name` means: a path if it contains a '/', else the first file of that
/// name in the folders of `path`, a list like PATH. Relative paths and empty folders are relative
/// to `directory`. Errors: `program_not_found`, `program_refused`, with the places searched.
expected<std::string> find_program(const std::string& name, std::string_view path,
                                   const std::string& directory);

/// PATH of this process, or the default of a shell. Not while another thread changes the
/// environment.
std::string_view search_path();

} // namespace hearth::os
