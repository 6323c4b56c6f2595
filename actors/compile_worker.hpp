// compile_worker: runs one program after the other, on its own thread, each in a scratch directory
// that is removed afterwards. Spawned detached by the broker (not in tests).
#pragma once

#include "actors/ports/programs.hpp"
#include "messages/protocol.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <memory>
#include <stop_token>

namespace hearth::actors {

/// The ports of a worker; all workers of a broker share them.
struct worker_ports {
  std::shared_ptr<process_runner> processes;
  std::shared_ptr<trial_runner> trials;
  std::shared_ptr<scratch_space> scratch;
  std::stop_token stop; ///< requested at shutdown: the running program is killed
};

struct compile_worker_state {
  static inline const char* name = "compile_worker";
  worker_ports ports;
};

compile_worker_actor::behavior_type
compile_worker(compile_worker_actor::stateful_pointer<compile_worker_state> self,
               worker_ports ports);

} // namespace hearth::actors
