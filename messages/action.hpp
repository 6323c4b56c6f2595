// An action: a program that runs in a private directory and the files that it has to make there;
// and its result, which a cache keeps. Plain values; pure functions, any thread.
#pragma once

#include "messages/artifact.hpp"
#include "messages/digest.hpp"
#include "messages/error.hpp"
#include "messages/key.hpp"
#include "messages/process.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// What a scratch directory shows of the host's files. In it, `root` stands for `/`: the file
/// /home/me/a is root/home/me/a there.
struct scratch_view {
  std::string folder;              ///< absolute; what stands for it is the working directory
  bool shows_all = false;          ///< the whole of `folder` and all around it; else `shown` alone
  std::vector<std::string> shown;  ///< absolute paths of files and folders
  std::vector<std::string> places; ///< absolute paths of files to be made: their folders are there
};

/// A program to run in a scratch directory of its own, and the files it has to make there.
struct action_request {
  static constexpr auto no_argument = std::numeric_limits<std::size_t>::max();
  struct output {
    std::size_t argument = no_argument; ///< argv[argument] becomes the file's path
    std::string name{};                 ///< in the scratch directory
  };
  struct file {
    std::string name; ///< in the scratch directory
    artifact bytes;
  };

  std::string label; ///< for traces: "matmul TILE=16"
  process_request process;
  std::vector<output> outputs;
  /// Asked when the program has ended: whether its inputs are still those of its key. Any thread.
  std::function<bool()> inputs_hold{};

  bool placeholders = false;     ///< in the arguments: `expand_placeholders`
  scratch_view view{};           ///< without a folder the program starts in `process.directory`
  std::vector<file> files{};     ///< written there before it starts
  std::string dependency_file{}; ///< it writes there, in make's syntax, what it read
  /// Given the dependency file's text when the program has succeeded (empty without one): what is
  /// known of the inputs that nobody declared, as bytes that `observed` holds. An error says why
  /// the result must not be kept. Any thread.
  std::function<expected<std::string>(std::string_view dependencies)> observe{};
  /// Digest of the observations that the caller has checked and found outdated; empty: there were
  /// none. If the stored observations differ from these, nothing is run and the reply says `again`.
  std::string seen{};
  bool keep_failures = false; ///< exit statuses other than 0 are kept too
  std::stop_token stop{};     ///< requested: what runs of it is killed
};

/// "{directory}", "{in:NAME}" and "{out:NAME}" in an argument stand for absolute paths: of the
/// working directory, and of NAME in it.
std::string expand_placeholders(std::string argument, const std::string& directory);

/// How an action ended. `outputs` are the files' bytes, in order, when it succeeded.
struct action_result {
  process_result process;
  std::vector<artifact> outputs;
  std::vector<bool> executable{}; ///< of each output
  std::string observed{};         ///< what `observe` said
  std::string unkept{};           ///< why it must not be kept, or nothing
};

/// What the action cache answers.
struct action_reply {
  action_result result;
  bool ran = false;    ///< by this or a concurrent request; else it was found
  bool again = false;  ///< there are observations that the asker has not seen: look again
  std::string problem; ///< why it was not kept, or nothing
};

/// The result as one entry: all of its outputs or none. Times of the machine stay out.
artifact encode_result(const action_result& result);
/// Errors: `malformed`.
expected<action_result> decode_result(const artifact& entry);

/// What an action's entry knows of inputs that it discovered: sets of observations, the latest
/// first, no more than `max_observations`; each as `observe` said it.
using observation_list = std::vector<std::string>;
inline constexpr std::size_t max_observations = 32;

artifact encode_observations(const observation_list& all);
/// Errors: `malformed`.
expected<observation_list> decode_observations(const artifact& entry);
/// What `action_request::seen` holds of such an entry.
std::string digest_of(const artifact& observations);

/// What stands behind an action's key in the key of its observations, and in that of the result
/// which an observation leads to.
key observations_part();
key observed_part(std::string_view observation);

} // namespace hearth
