// compile_broker: hands programs to its workers, never more at once than there are workers, higher
// priority first, in order within one. Of trials, which measure time, one runs at a time.
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
  std::size_t workers = 0; ///< that have not ended
  std::map<int, std::deque<program>, std::greater<>> programs; ///< waiting, by priority
  std::deque<trial> trials;                                    ///< waiting
  bool trial_runs = false;
  broker_stats counters;
  span_list spans; ///< since they were asked for; bounded
};
using compile_broker_pointer = compile_broker_actor::stateful_pointer<compile_broker_state>;

/// A broker over these workers; at least one.
compile_broker_actor::behavior_type compile_broker(compile_broker_pointer self,
                                                   std::vector<compile_worker_actor> workers);

} // namespace hearth::actors
