// An action: a program that runs in a private directory, the files that it must write there, and
// its result, which a cache keeps. Plain values; pure functions, any thread.
#pragma once

#include "messages/artifact.hpp"
#include "messages/digest.hpp"
#include "messages/error.hpp"
#include "messages/key.hpp"
#include "messages/member_set.hpp"
#include "messages/process.hpp"
#include "messages/visibility.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace HEARTH_PUBLIC hearth {

/// The host's files that a scratch directory shows. In it, `root` corresponds to `/`: the file
/// /home/me/a is root/home/me/a there.
struct scratch_view {
  std::string folder;     ///< absolute; the folder shown for it is the working directory
  bool shows_all = false; ///< shows all of `folder` and its surroundings; false: only `shown`
  std::vector<std::string> shown;  ///< absolute paths of files and folders
  std::vector<std::string> places; ///< absolute paths of output files: their folders exist
};

/// A program to run in its own scratch directory, and the files that it must write there.
struct action_request {
  static constexpr auto no_argument = std::numeric_limits<std::size_t>::max();
  struct output {
    std::size_t argument = no_argument; ///< the index in argv that becomes the file's path
    std::string name{};                 ///< path in the scratch directory
    bool is_required = true;            ///< false: a successful run may leave it out
  };
  struct file {
    std::string name; ///< path in the scratch directory
    artifact bytes;
  };

  std::string label;        ///< for traces: "matmul TILE=16"
  std::string traced_key{}; ///< for traces: cache and key of its result
  process_request process;
  std::vector<output> outputs;
  std::vector<output> byproducts{}; ///< written as outputs are, but nobody asks for them
  bool placeholders = false;        ///< the arguments have placeholders: `expand_placeholders`
  scratch_view view{};              ///< without a folder, the program starts in `process.directory`
  /// Whether it runs in `view.folder` itself, beneath an overlay (`folder_cover`).
  enum class overlay : std::uint8_t {
    none,        ///< it runs in the view
    if_possible, ///< else in the view
    required,    ///< where the system has none, the run is an error (`unsupported`)
  };
  overlay overlaid = overlay::none;
  std::vector<file> files{};     ///< files written before the program starts
  std::string dependency_file{}; ///< a file, in make's syntax, in which it lists its inputs
  /// Called when the program is about to start, to wait until it may. Any thread.
  std::function<void()> before_start{};
  /// What is known of a run that has ended.
  struct run_record {
    const process_result& process;
    std::string scratch{};           ///< its scratch directory, which is still there
    std::string dependencies{};      ///< the dependency file's text; empty without one
    std::string changes{};           ///< if it ran beneath an overlay, what it changed lies there
    std::vector<artifact> outputs{}; ///< in their order; none before they are taken
  };
  /// Called when the program has succeeded, before its outputs are taken: an error is the outcome
  /// of the run. Any thread.
  std::function<expected<void>(const run_record& run)> accept{};
  /// Called when the program has exited and its result may be kept. Returns what it read besides
  /// the declared inputs as bytes, which `observed` holds; an error says why the result must not be
  /// kept. Any thread.
  std::function<expected<std::string>(const run_record& run)> observe{};
  /// Called when the program has ended in any way, before what it looked at is forgotten. Any
  /// thread.
  std::function<void(const run_record& run)> after_run{};
  /// Hash of the observations that the caller has found outdated; empty: there were none. If the
  /// stored observations differ from these, nothing is run and the reply says `again`.
  std::string seen{};
  /// What is kept of a run with another exit status than 0.
  enum class failure_keeping : std::uint8_t { nothing, inputs, result };
  failure_keeping failures = failure_keeping::nothing;
  /// The time limit is that of the run alone; false: waits for the runs of others count too.
  bool limits_run_alone = false;
  std::stop_token stop{}; ///< a requested stop kills the running program
};

/// Whether the action finds out what its inputs are by running.
bool discovers(const action_request& request);

/// Replaces "{directory}" in an argument by the absolute path of the working directory, and
/// "{in:NAME}" and "{out:NAME}" by the path of NAME in it.
std::string expand_placeholders(std::string argument, const std::string& directory);

/// How an action ended. `outputs` has the files' bytes, in order, if it succeeded.
struct action_result {
  process_result process;
  std::vector<artifact> outputs;  ///< an empty reference: a run that left out this one
  std::vector<bool> executable{}; ///< whether each output is executable
  std::string observed{};         ///< the result of `observe`
  std::string unkept{};           ///< why the result must not be kept, or empty
};

/// The answer of the action cache.
struct action_reply {
  action_result result;
  bool ran = false;    ///< this or a concurrent request ran it; false: it was found
  bool again = false;  ///< the caller has to check new observations
  std::string problem; ///< why the result was not kept, or empty
  /// With `again`, the observations that are known now, which this host may be unable to store;
  /// nothing: the caller looks for them.
  std::optional<member_set> observations{};
};

/// The result as one entry: all outputs or none. It contains no times of the machine.
artifact encode_result(const action_result& result);
/// Errors: `malformed`.
expected<action_result> decode_result(const artifact& entry);

/// The discovered inputs of an action: a set whose members' ids are observations, each a result of
/// `observe`. At most this many are kept.
inline constexpr set_limits observation_limits{32};

/// The observations, the latest first.
std::vector<std::string> observations_in(const member_set& set);
/// The hash of such a set, for `action_request::seen`; empty for an empty set.
std::string digest_of(const member_set& observations);
/// The observations in an entry of the earlier form, a list; none when it is another one.
std::vector<set_member> observations_in_list(const artifact& entry);

/// The keys, derived from an action's key, of its observations, of their earlier form, and of the
/// result that belongs to one observation.
key observations_part();
key observation_list_part();
key observed_part(std::string_view observation);

} // namespace hearth
