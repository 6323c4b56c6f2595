// A base folder: absolute paths below it are made relative in a command line, so that checkouts in
// other places have the same one. Pure functions over text; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hearth::launcher {

struct compile_command;

/// The base folder of a compile, and the folder that it runs in, which is the base or below it.
struct base_folder {
  std::string spelled; ///< as it was given, absolute, without "/" at its end
  std::string real;    ///< without symbolic links; so is the next one
  std::string working;
};

/// The path relative to the working folder, if it is absolute and below the base; else as it is.
std::string relative_to_base(std::string_view path, const base_folder& base);

/// Makes the paths of the source, and of files and folders that are read, relative; those of
/// outputs only where they are in other outputs' bytes, and not the target of a dependency file.
void make_relative(compile_command& command, const base_folder& base);

/// Whether a prefix map (-ffile-prefix-map=OLD=NEW, -fdebug-prefix-map) replaces the name of the
/// working folder in debug information.
bool maps_working_folder(const std::vector<std::string>& arguments, const base_folder& base);

/// An argument as the key has it: a prefix map's old name is relative, since it is in no output. A
/// zero byte before it tells it from a name that is relative in the command line.
std::string key_argument(const std::string& argument, const base_folder& base);

} // namespace hearth::launcher
