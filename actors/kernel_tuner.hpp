// kernel_tuner: finds the entry of a tune request, or makes it. If a tuning is known, only its
// candidate is compiled. Otherwise the candidates are compiled, tried and measured, all of them or
// by coordinate descent, and the fastest correct one is kept. Each entry is made once for all
// requests of all processes; each action is compiled once.
//
// Owns its jobs in progress; results are stored through the guarded and the autotune cache. Its
// steps are in actors/kernel_tuner/.
#pragma once

#include "actors/ports/trace_log.hpp"
#include "actors/shard_router.hpp"
#include "actors/shared_promise.hpp"
#include "messages/autotune/choices.hpp"
#include "messages/autotune/contest.hpp"
#include "messages/autotune/descent.hpp"
#include "messages/protocol.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace hearth::actors {

struct kernel_tuner_config {
  shard_router shards;
  compile_broker_actor broker;
  action_cache_actor actions; ///< runs watched compiles
  guarded_cache_actor guarded;
  autotune_cache_actor autotune;
  std::shared_ptr<trace_log> trace; ///< null: no trace
  /// Entries that are tuned concurrently; the others wait, so that several processes can share one
  /// plan.
  std::size_t max_at_once = 2;
};

struct kernel_tuner_state {
  static inline const char* name = "kernel_tuner";

  /// The outcome of one candidate.
  struct trying {
    artifact library;         ///< the shared object, once compiled
    std::int64_t time_ns = 0; ///< one call, once measured
    std::string reason;       ///< why the candidate is left out; empty for a good one
    bool is_config = true;    ///< false: the machine, not the candidate, caused the failure
    bool is_right = false;    ///< its results matched the reference's
    std::string observed;     ///< of a watched compile: `tune_candidate::observed` of its run
  };

  /// An entry in the making.
  struct job {
    tune_request_ptr request;
    lease_id lease = 0;
    bool waited = false;
    bool is_untuned = false; ///< kept under `untuned_key`: not chosen by time
    std::int64_t start_ns = 0;
    std::vector<trying> candidates;
    std::size_t open = 0;       ///< unfinished candidates of this step
    std::function<void()> next; ///< called when `open` is 0
    contest rounds;
    std::optional<coordinate_descent> descent;
    choice_times known;       ///< times of the family from earlier runs
    bool looks_again = false; ///< other observations of a candidate are known by now
    std::string unkept;       ///< why what a compile read is not known, or empty
  };

  kernel_tuner_state() = default;
  kernel_tuner_state(const kernel_tuner_state&) = delete;
  kernel_tuner_state& operator=(const kernel_tuner_state&) = delete;
  /// `next` holds the job that owns it. Clearing it here breaks the cycle when the actor ends
  /// early.
  ~kernel_tuner_state() {
    for (const auto& one : jobs)
      one->next = nullptr;
  }

  kernel_tuner_config config;
  std::set<std::shared_ptr<job>> jobs; ///< running jobs
  /// The requests that wait for an entry, by its key.
  std::unordered_map<cache_key, std::vector<shared_promise<tune_reply>>, cache_key_hash> waiting;
  std::deque<tune_request_ptr> queue; ///< requests that wait until a running job is done
};

kernel_tuner_actor::behavior_type
kernel_tuner(kernel_tuner_actor::stateful_pointer<kernel_tuner_state> self,
             kernel_tuner_config config);

} // namespace hearth::actors
