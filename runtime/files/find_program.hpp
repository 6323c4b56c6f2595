// Where a program is. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hearth {

/// Whether there is a file at `path` that may be executed.
bool is_program(const std::string& path);

/// The program `name` in the folders of `path`, a list as PATH is one, relative ones (and an empty
/// one) inside of `directory`.
std::optional<std::string> find_in_path(std::string_view name, std::string_view path,
                                        std::string_view directory);

/// The same for a name that may be a path, with this process's PATH and working directory. Not
/// while another thread changes the environment.
std::optional<std::string> find_program(const std::string& name);

} // namespace hearth
