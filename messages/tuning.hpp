// Requests to tune a kernel, and their results: one entry of a compile plan. Plain values, any
// thread.
#pragma once

#include "messages/autotune/choice.hpp"
#include "messages/cache_key.hpp"
#include "messages/replies.hpp"
#include "messages/value.hpp"
#include "messages/visibility.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace HEARTH_PUBLIC hearth {

/// Values of a guard's names.
using hints = std::map<std::string, std::int64_t, std::less<>>;

/// The outcome of a guarded lookup.
enum class guarded_status : std::uint8_t {
  hit,
  guard_miss, ///< there are variants, but no guard holds for the hints
  full_miss,  ///< there is no variant
};
std::string_view to_string(guarded_status status) noexcept;

/// A guarded lookup's answer.
struct guarded_reply {
  guarded_status status = guarded_status::full_miss;
  lookup found;                  ///< the variant's artifact, on a hit
  std::string guard;             ///< its guard, on a hit; may be empty
  std::string sample;            ///< the last evaluated guard that is not empty
  std::uint64_t unevaluated = 0; ///< guards whose evaluation failed; they do not hold
  std::uint64_t broken = 0;      ///< variants skipped because they are gone
};

/// One way to compile an entry.
struct tune_candidate {
  value::map config;       ///< macro name -> value
  std::string config_text; ///< "TILE=16 UNROLL=2", in the plan's order
  cache_key action_key;    ///< key of its shared object; of a watched compile: of the action
  action_request action;   ///< its first output is the shared object
  /// For a watched compile, the SHA-256 of the observation that holds now; empty: none is known.
  std::string observed{};
  /// Why it cannot be started, if that is known; `compile_failed` if the candidate is the cause.
  std::optional<error> broken;
};

/// The keys of the tuning of one kernel and one set of candidates (docs/autotune.md).
struct autotune_address {
  cache_key local;  ///< without a cache: this tier is off
  cache_key remote; ///< without a cache: this tier is off
  std::string name; ///< name of the local entry and of the record in a bundle
};

/// The sessions that note saved and found tunings; 0: none.
struct tuning_notes {
  std::uint64_t bundle = 0;    ///< session of the bundler
  std::uint64_t recording = 0; ///< session of the artifact recorder
};

/// The best known configuration: the stored record, and its candidate.
struct autotune_found {
  chosen_config best;
  autotune_record record;
  tier from = tier::none;
};

/// How the winner of a missing entry is chosen.
enum class tune_mode : std::uint8_t {
  full,        ///< by a known tuning, else by measuring every candidate
  descent,     ///< as `full`, but measures at most a third, by coordinate descent
  cached_only, ///< by a known tuning, else the first candidate that is right
  off,         ///< the first candidate that is right; tunings are not looked up
};
std::string_view to_string(tune_mode mode) noexcept;

/// Where an entry is kept.
struct entry_keys {
  cache_key tuned;   ///< depends on everything that can change the program
  cache_key untuned; ///< of an entry that was not chosen by its time
};

/// A request to find or make an entry, from a compile plan.
struct tune_request {
  std::string name; ///< for messages and traces: "matmul[guard 0]"
  cache_key key;    ///< key in the guarded cache; depends on everything that can change the program
  cache_key untuned_key; ///< key of an entry that was not chosen by its time
  cache_key family;      ///< `key` without the candidates; tuning takes its lease
  std::string guard;     ///< empty: no condition
  hints sizes;           ///< sizes of the shape that is tuned
  std::vector<tune_candidate> candidates;
  trial_request trial; ///< the trial, without its library
  std::chrono::milliseconds trial_deadline{120'000};
  tune_mode mode = tune_mode::full;
  autotune_address address;
  cache_key times_key; ///< key of the measured times of the family's candidates
  /// `key` and `untuned_key` where these observations of the candidates hold, for watched compiles;
  /// null: there are none. Any thread.
  std::function<entry_keys(const std::vector<std::string>& observed)> keys_of{};
  tuning_notes notes;
};

/// A candidate that was left out.
struct rejection {
  value::map config;
  std::string config_text;
  std::string reason;
};

enum class tune_status : std::uint8_t { compiled, memory, disk, remote, waited, failed };
std::string_view to_string(tune_status status) noexcept;

/// The outcome of a `tune_request`.
struct tune_reply {
  tune_status status = tune_status::failed;
  artifact library; ///< the winner's shared object, with metadata; empty after a failure
  value::map config;
  std::string config_text;
  std::int64_t time_ns = 0;         ///< one call of the winner
  std::int64_t slowest_time_ns = 0; ///< one call of the slowest correct candidate
  std::vector<rejection> rejected;
  std::string problem;            ///< the failure in one line, or a lesser problem (not stored)
  std::int64_t time_taken_ns = 0; ///< time to make the entry, with tuning; a hit saves it
  /// Nothing was made: the caller has to look at the observations of the candidates again.
  bool again = false;
  /// Of an entry that was made: what is known of each candidate now, as `tune_candidate::observed`.
  std::vector<std::string> observed{};
};

using tune_request_ptr = std::shared_ptr<const tune_request>;

/// The start of a bundler session, with or without the bundle of an earlier one.
struct bundle_session {
  std::uint64_t id = 0;
  std::uint64_t entries = 0;      ///< entries of the bundle, copied to the local cache
  std::int64_t time_saved_ns = 0; ///< the time that these tunings took
  bool hit = false;
};

/// The end of a bundler session.
struct bundle_end {
  std::uint64_t entries = 0; ///< entries of the bundle
  bool stored = false;       ///< the session added a tuning
};

} // namespace hearth
