// What tuning a kernel needs and finds: one entry of a compile plan. Plain values, any thread.
#pragma once

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

/// An entry to be found, or made: what a plan's request needs.
struct tune_request {
  std::string name;  ///< for messages and traces: "matmul[guard 0]"
  cache_key key;     ///< in the guarded cache; holds everything that can change the program
  std::string guard; ///< empty: no condition
  hints sizes;       ///< of the shape it is tuned on
  std::vector<tune_candidate> candidates;
  trial_request trial; ///< without its library
  std::chrono::milliseconds trial_deadline{120'000};
  cache_key autotune_key;
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
};

using tune_request_ptr = std::shared_ptr<const tune_request>;

/// What tuning remembers of one key in the autotune cache: the best configuration.
struct autotune_record {
  value::map config;
  std::string configs_hash; ///< SHA-256 hex of the candidates that it was chosen from
  std::int64_t time_ns = 0;
  bool found_by_coordesc = false;
};

} // namespace hearth
