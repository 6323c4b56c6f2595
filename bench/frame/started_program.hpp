// Programs that a row starts and waits for: Hearth's own, and its peers.
//
// Plain functions for a row's thread. `run_all` starts threads of its own and ends them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace hearth::bench {

/// What to start, and where.
struct started_program {
  std::vector<std::string> line;        ///< the program's path, or its name in PATH; its arguments
  std::filesystem::path folder{};       ///< its working directory; empty: that of this process
  std::vector<std::string> variables{}; ///< "NAME=value", besides those of this process
};

/// The program `hearth` beside this one, or where it is installed: in the same folder.
std::string hearth_program();

/// Runs a program without input and output. Of this process's variables it gets all but those that
/// set Hearth, ccache or make. Throws `std::runtime_error` unless its status is 0.
void run_once(const started_program& program);

/// Runs all programs, at most `at_once` of them at the same time. Throws as `run_once`.
void run_all(const std::vector<started_program>& programs, std::size_t at_once);

/// A turn that runs a program `times` times, one after the other. It returns the seconds of one.
std::function<double()> turns_of(started_program program, std::size_t times);

} // namespace hearth::bench
