// Actions: command lines whose results are kept. Plain values.
//
// docs/actions.md says what of an action is in its key, and how it is run.
#pragma once

#include "messages/artifact.hpp"
#include "messages/process.hpp"
#include "messages/replies.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hearth {

/// A command with declared inputs and outputs. It runs in a working directory of its own, which is
/// gone afterwards; names are relative to it, or absolute.
struct action {
  /// The program and its arguments. With `placeholders`, "{directory}", "{in:NAME}" and
  /// "{out:NAME}" stand for absolute paths: of the working directory, of an input, of an output.
  std::vector<std::string> command{};
  bool placeholders = false;
  /// The caller's folder, in place of which the working directory stands: what is in it and around
  /// it is seen there, at the same relative names. Empty: declared inputs alone are there.
  std::filesystem::path directory{};
  bool sees_undeclared = true; ///< false: of `directory`, declared inputs alone are seen
  std::vector<std::filesystem::path> inputs{};      ///< files, and folders with all that is in them
  std::map<std::string, std::string> texts{};       ///< inputs given by content: name -> bytes
  std::vector<std::string> toolchains{};            ///< compilers that the command starts by itself
  std::vector<std::filesystem::path> outputs{};     ///< files that it makes: all, or it failed
  std::map<std::string, std::string> environment{}; ///< beside PATH, nothing else
  /// A file in make's syntax that it writes: the inputs that it discovered. It may be an output.
  std::filesystem::path dependency_file{};
  std::chrono::milliseconds timeout{0}; ///< of one run; zero: none
  resource_limits limits{};             ///< of its processes
  int priority = 0;                     ///< higher first, when more wait than may run
  bool keep_failures = false;           ///< exit statuses other than 0 are kept, too
  bool is_cached = true;                ///< false: run, whatever is there; keep nothing
  std::size_t output_limit = 64 << 20;  ///< bytes kept of stdout, and of stderr
};

/// One file that an action made.
struct action_output {
  std::filesystem::path name; ///< as the action says it
  artifact bytes;
  bool executable = false;
};

/// What became of an action: of a run now, or of the one whose result was kept.
struct action_outcome {
  int status = 0;         ///< its exit status, when `signal` is 0 and it did not time out
  int signal = 0;         ///< that ended it
  bool timed_out = false; ///< killed at its timeout
  std::string out;        ///< its stdout
  std::string err;        ///< its stderr
  std::vector<action_output> outputs; ///< in the action's order; none when it failed
  bool found = false;                 ///< nothing was run
  std::int64_t time_taken_ns = 0;     ///< by the run; what a hit saves
  std::string problem;                ///< why it was not kept, or nothing

  bool succeeded() const { return status == 0 && signal == 0 && !timed_out; }
};

/// Puts the outputs into place, relative to `directory`: all are written before the first is
/// renamed, so that nobody sees a part of one. Folders that are missing are made. Errors: those of
/// writing; then nothing has changed, unless the last step, renaming, failed.
expected<void> materialize_outputs(const action_outcome& outcome,
                                   const std::filesystem::path& directory);

} // namespace hearth
