// kernel_tuner: finds the entry of a tune request, or makes it: compiles every candidate, tries
// each, keeps the fastest correct one. Each entry is made once, however many ask, in however many
// processes; each action is compiled once.
//
// Owns its work in progress; what it makes goes through the guarded and the autotune cache.
#pragma once

#include "actors/answer.hpp"
#include "actors/shard_router.hpp"
#include "messages/protocol.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace hearth::actors {

struct kernel_tuner_config {
  shard_router shards;
  compile_broker_actor broker;
  guarded_cache_actor guarded;
  autotune_cache_actor autotune;
  /// Entries that are made at once; more wait, so that processes share the work of one plan.
  std::size_t most_at_once = 2;
};

struct kernel_tuner_state {
  static inline const char* name = "kernel_tuner";

  /// What became of one candidate.
  struct trying {
    artifact library;
    trial_result result;
    std::string reason;    ///< why it is left out; empty for a good one
    bool is_config = true; ///< the candidate is to blame, not the machine
  };

  /// An entry that is being made.
  struct job {
    tune_request_ptr request;
    lease_id lease = 0;
    bool waited = false;
    std::vector<trying> candidates;
    std::size_t open = 0; ///< candidates whose fate is not known yet
    std::int64_t start_ns = 0;
  };

  kernel_tuner_config config;
  /// Who waits for an entry, by its key.
  std::unordered_map<cache_key, std::vector<owed<tune_reply>>, cache_key_hash> waiting;
  std::deque<tune_request_ptr> queue; ///< to be made, when others are done
  std::size_t active = 0;
};

kernel_tuner_actor::behavior_type
kernel_tuner(kernel_tuner_actor::stateful_pointer<kernel_tuner_state> self,
             kernel_tuner_config config);

} // namespace hearth::actors
