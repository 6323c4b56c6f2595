// Actions: command lines whose results are stored. Plain values.
//
// docs/actions.md describes the key of an action and how it is run.
#pragma once

#include "messages/artifact.hpp"
#include "messages/process.hpp"
#include "messages/replies.hpp"
#include "messages/visibility.hpp"
#include "runtime/launcher/base_folder.hpp"
#include "runtime/os/files/replacement.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace HEARTH_PUBLIC hearth {

/// A command with declared inputs and outputs. It runs in a working directory of its own, which is
/// removed afterwards; names are relative to it, or absolute.
///
/// No aggregate: GCC 12 destroys an aggregate that is made within a `co_await` twice.
struct action {
  action() {}
  explicit action(std::vector<std::string> program_and_arguments)
      : command(std::move(program_and_arguments)) {}

  /// The program and its arguments. With `placeholders`, "{directory}", "{in:NAME}" and
  /// "{out:NAME}" are replaced by absolute paths: of the working directory, of an input, of an
  /// output.
  std::vector<std::string> command{};
  bool placeholders = false;
  /// The caller's folder, which the working directory replaces: the command sees the files in and
  /// around it at the same relative names. Empty: the command sees only the declared inputs.
  std::filesystem::path directory{};
  bool sees_undeclared = true;                  ///< false: the command sees only declared inputs
  std::vector<std::filesystem::path> inputs{};  ///< files, and folders with all their content
  std::map<std::string, std::string> texts{};   ///< inputs given by content: name -> bytes
  std::vector<std::string> toolchains{};        ///< compilers that the command starts by itself
  std::vector<std::filesystem::path> outputs{}; ///< files that it makes; a missing one is a failure
  std::map<std::string, std::string> environment{}; ///< all variables that it gets, besides PATH
  /// Variables that it gets too, but on which its result does not depend: they are in no key.
  std::map<std::string, std::string> other_variables{};
  /// Those of `outputs` that a successful run may leave out.
  std::set<std::filesystem::path> optional_outputs{};
  /// It is a compile: it runs in `directory` itself, or beneath an overlay. If it cannot, or if it
  /// writes other files there than its outputs, `run` is an error.
  bool is_compile = false;
  /// Nothing is kept if a compile may have inputs that are not the bytes of files: the clock
  /// (__DATE__ and its like), which of two equal files are one, precompiled headers.
  bool refuses_hidden_inputs = false;
  /// For a compile: results are shared between checkouts below such folders, if no output has the
  /// folder's name.
  std::optional<launcher::base_folder> base{};
  bool is_dated = false; ///< the compiler takes the date from SOURCE_DATE_EPOCH
  /// A file in make's syntax in which the command lists the inputs that it discovered. It may be an
  /// output.
  std::filesystem::path dependency_file{};
  std::chrono::milliseconds timeout{0}; ///< time limit of one run; zero: none
  resource_limits limits{};             ///< limits of its processes
  int priority = 0;                     ///< the queued action with the highest priority runs first
  bool keep_failures = false;           ///< results with other exit statuses than 0 are stored, too
  bool is_cached = true;                ///< false: always runs, and stores nothing
  /// When its caller began, in nanoseconds since the epoch: nothing is kept if a file that it reads
  /// has changed since. 0: now. The clock of file times has to go on before the command starts, so
  /// an early moment saves a wait of some milliseconds.
  std::int64_t begun_ns = 0;
  std::size_t output_limit = 64 << 20; ///< bytes kept of stdout, and of stderr
};

/// One file that an action made.
struct action_output {
  std::filesystem::path name; ///< as in the action
  artifact bytes;             ///< an empty reference: the run left it out
  bool executable = false;
};

/// The outcome of an action: of a run now, or of the stored run.
struct action_outcome {
  int status = 0;         ///< its exit status, when `signal` is 0 and it did not time out
  int signal = 0;         ///< the signal that ended it, or 0
  bool timed_out = false; ///< killed at its timeout
  std::string out;        ///< its stdout
  std::string err;        ///< its stderr
  std::vector<action_output> outputs; ///< in the action's order; empty when it failed
  bool found = false;                 ///< the result was stored: nothing was run
  std::int64_t time_taken_ns = 0;     ///< duration of the run, which a hit saves
  std::string problem;                ///< why it was not stored, or empty
  bool has_unknown_inputs = false;    ///< it was not stored because nothing tells what it read
  /// Names in its folder that it looked for in a run now although they are not declared, if it may
  /// see only what is declared and was watched.
  std::vector<std::string> undeclared{};
  /// Why no stored result served, if one was looked for and others of this action are known: what
  /// has changed since the stored ones were made ("a.h changed"), or where the key differs from the
  /// nearest earlier one (`command[1]: "-O2" -> "-O3"`).
  std::vector<std::string> missed{};

  bool succeeded() const { return status == 0 && signal == 0 && !timed_out; }
};

/// Whether a command would run now, and why.
struct action_explanation {
  /// One stored result.
  struct stored_result {
    std::string change;            ///< what is otherwise now, in words; empty: nothing, it serves
    std::vector<std::string> read; ///< what the command looked at besides what is declared
  };
  bool would_be_found = false;
  std::vector<stored_result> stored{}; ///< for this command and its declared inputs, latest first
};

/// Writes the outputs to their places relative to `directory`. All files are written before the
/// first is renamed, so that no process sees a partial file. Missing folders are created. Errors:
/// those of writing; then nothing has changed, unless the last step, renaming, failed.
expected<void> materialize_outputs(const action_outcome& outcome,
                                   const std::filesystem::path& directory,
                                   os::replacement how = os::replacement::in_one_step);

} // namespace hearth
