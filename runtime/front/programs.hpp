// How the program `hearth` becomes another one.
#pragma once

#include <string>
#include <vector>

namespace hearth::front {

/// Makes writing to a closed pipe, or past the size limit of files, an error instead of the end of
/// this program, until it becomes another one.
void ignore_write_signals();

/// Replaces this process with a program: a path, or a name to find in PATH. It gets the signals as
/// they were when `ignore_write_signals` was called, or the default. Returns an `errno` when it
/// cannot.
int become(const std::string& program, std::vector<std::string> arguments);

/// If it is set, compilers run as they are.
inline constexpr const char* off_variable = "HEARTH_DISABLE";
bool is_disabled();

/// Replaces it with the command line itself, for a compile that is not cached. Returns only when it
/// cannot: says why, and returns the status of a shell for that.
int become_compiler(std::vector<std::string> words);

} // namespace hearth::front
