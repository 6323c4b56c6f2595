// compile_broker: gives programs to its workers, at most one per worker, higher priority first, in
// request order within a priority. Trials measure time, so only one runs at a time.
#pragma once

#include "actors/shared_promise.hpp"
#include "messages/protocol.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <map>
#include <variant>
#include <vector>

namespace hearth::actors {

struct compile_broker_state {
  static inline const char* name = "compile_broker";

  struct program {
    action_request request;
    shared_promise<action_result> promise;
  };
  struct trial {
    trial_request request;
    artifact library;
    std::chrono::milliseconds deadline;
    shared_promise<trial_result> promise;
  };

  std::vector<compile_worker_actor> idle;
  std::size_t workers = 0;                                     ///< workers that have not ended
  std::map<int, std::deque<program>, std::greater<>> programs; ///< queued programs, by priority
  std::deque<trial> trials;                                    ///< queued trials
  bool trial_runs = false;
  broker_stats counters;
  span_list spans; ///< spans of work since the last `trace` request; bounded
};
using compile_broker_pointer = compile_broker_actor::stateful_pointer<compile_broker_state>;

/// A broker over these workers; there is at least one.
compile_broker_actor::behavior_type compile_broker(compile_broker_pointer self,
                                                   std::vector<compile_worker_actor> workers);

} // namespace hearth::actors
