// What tuning a kernel needs and finds: one entry of a compile plan. Plain values, any thread.
#pragma once

#include "messages/autotune/choice.hpp"
#include "messages/cache_key.hpp"
#include "messages/replies.hpp"
#include "messages/value.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// Values of the names that a guard speaks of.
using hints = std::map<std::string, std::int64_t, std::less<>>;

/// How a guarded lookup ended.
enum class guarded_status : std::uint8_t {
  hit,
  guard_miss, ///< there are variants, and no guard holds for the hints
  full_miss,  ///< there is no variant
};
std::string_view to_string(guarded_status status) noexcept;

/// A guarded lookup's answer.
struct guarded_reply {
  guarded_status status = guarded_status::full_miss;
  lookup found;                  ///< the variant's artifact, on a hit
  std::string guard;             ///< its guard, on a hit; may be empty
  std::string sample;            ///< the last guard that was evaluated and is not empty
  std::uint64_t unevaluated = 0; ///< guards that failed to evaluate: they do not hold
  std::uint64_t broken = 0;      ///< variants that were dropped
};

/// One way to compile an entry.
struct tune_candidate {
  value::map config;       ///< macro name -> value
  std::string config_text; ///< "TILE=16 UNROLL=2", in the plan's order
  cache_key action_key;
  action_request action; ///< its first output is the shared object
  /// Why it cannot even be started, when that is known; `compile_failed` if it is to blame itself.
  std::optional<error> broken;
};

/// Where the tuning of one kernel and one set of candidates is kept (docs/autotune.md).
struct autotune_address {
  cache_key local;  ///< without a cache: this tier is off
  cache_key remote; ///< without a cache: this tier is off
  std::string name; ///< of the local entry, under which a bundle has it
};

/// Which notes to take of what is saved and found; 0: none.
struct tuning_notes {
  std::uint64_t bundle = 0;    ///< a session of the bundler
  std::uint64_t recording = 0; ///< a session of the artifact recorder
};

/// The best known configuration: what is kept, and which of the candidates it is.
struct autotune_found {
  chosen_config best;
  autotune_record record;
  tier from = tier::none;
};

/// How an entry that is not there is chosen.
enum class tune_mode : std::uint8_t {
  full,        ///< what is not known is found by measuring every candidate
  descent,     ///< ... by coordinate descent, which measures a third of them at most
  cached_only, ///< what no tuning is known of is the first candidate that is right
  off,         ///< ... and tunings are not asked for
};
std::string_view to_string(tune_mode mode) noexcept;

/// An entry to be found, or made: what a plan's request needs.
struct tune_request {
  std::string name;      ///< for messages and traces: "matmul[guard 0]"
  cache_key key;         ///< in the guarded cache; holds everything that can change the program
  cache_key untuned_key; ///< the same, for what was not chosen by its time
  cache_key family;      ///< the same without the candidates; its lease is taken to tune
  std::string guard;     ///< empty: no condition
  hints sizes;           ///< of the shape it is tuned on
  std::vector<tune_candidate> candidates;
  trial_request trial; ///< without its library
  std::chrono::milliseconds trial_deadline{120'000};
  tune_mode mode = tune_mode::full;
  autotune_address address;
  cache_key times_key; ///< of what measuring the family's candidates showed
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

/// What became of a `tune_request`.
struct tune_reply {
  tune_status status = tune_status::failed;
  artifact library; ///< the winner's shared object, with metadata; empty when it failed
  value::map config;
  std::string config_text;
  std::int64_t time_ns = 0;         ///< of the winner, one call
  std::int64_t slowest_time_ns = 0; ///< of the slowest correct candidate
  std::vector<rejection> rejected;
  std::string problem; ///< why it failed, one line; or what went wrong beside (not stored)
  std::int64_t time_taken_ns = 0; ///< by making the entry, tuning included: what a hit saves
};

using tune_request_ptr = std::shared_ptr<const tune_request>;

/// How a session of the bundler begins: with the bundle of an earlier one, or without.
struct bundle_session {
  std::uint64_t id = 0;
  std::uint64_t entries = 0;      ///< of the bundle, put into the local cache
  std::int64_t time_saved_ns = 0; ///< what tuning these took
  bool hit = false;
};

/// How it ends.
struct bundle_end {
  std::uint64_t entries = 0; ///< of the bundle
  bool stored = false;       ///< something was new
};

} // namespace hearth
