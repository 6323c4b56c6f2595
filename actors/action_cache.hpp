// action_cache: results of actions. A request is answered from the tiers when the result is stored;
// otherwise the broker runs the action. Concurrent requests for one action share one run, under a
// lease that other processes and hosts respect.
//
// Owns the running actions. An action that discovers inputs has a set of observations under its
// key, and a result under (key, digest of one observation); other actions have their result under
// the key itself.
#pragma once

#include "actors/ports/trace_log.hpp"
#include "actors/shard_router.hpp"
#include "actors/shared_promise.hpp"
#include "messages/protocol.hpp"

#include <caf/actor_clock.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <memory>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

namespace hearth::actors {

struct action_cache_config {
  shard_router shards;
  compile_broker_actor broker;
  std::shared_ptr<trace_log> trace{}; ///< null: no trace
};

struct action_cache_state {
  static inline const char* name = "action_cache";

  /// A running action and the callers that wait for it.
  struct job {
    cache_key key;
    action_request request;
    int priority = 0;
    std::vector<reply_target<action_reply>> waiters{};
    /// Callers that asked after the start of a run that discovers its inputs, which may have
    /// changed before they asked: when it ends they look again.
    std::vector<reply_target<action_reply>> late{};
    bool has_started = false; ///< whether the broker was asked for the run
    std::stop_source stop{};
    lease_id lease = 0;
    caf::actor_clock::time_point asked{}; ///< when the first request came
    caf::actor_clock::time_point ended{}; ///< when the run ended
  };
  using job_ptr = std::shared_ptr<job>;

  action_cache_config config;
  /// By key and working folder: an action may discover other inputs in another folder.
  std::unordered_map<std::string, job_ptr> jobs;
};
using action_cache_pointer = action_cache_actor::stateful_pointer<action_cache_state>;

action_cache_actor::behavior_type action_cache(action_cache_pointer self,
                                               action_cache_config config);

/// Where the observations of an action are kept, and its result when one of them holds.
cache_key observations_key(const cache_key& action);
cache_key observed_key(const cache_key& action, const std::string& observation);

} // namespace hearth::actors
