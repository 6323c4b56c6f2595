// Sends a request to an actor that is no shard, and waits for the answer. Any thread, except an
// actor's.
#pragma once

#include "messages/caf_compat.hpp"
#include "runtime/api/blocking_region.hpp"
#include "runtime/engine/calls/logger_guard.hpp"
#include "runtime/engine/core.hpp"

#include <caf/scoped_actor.hpp>

namespace hearth::engine {

/// Returns the answer, a `T`. Errors: `closed`, `forked`, and those of the actor.
template <class T, class Handle, class... Message>
expected<T> ask_actor(runtime_core& core, const Handle& actor, const Message&... message) {
  const auto inside = core.enter_system();
  if (!inside) return fail(inside.error());
  const blocking_region waiting;
  expected<T> result = fail(errc::closed, "the runtime is shut down");
  const logger_guard guard;
  caf::scoped_actor self{core.system()};
  self->request(actor, caf::infinite, message...)
      .receive([&](const T& answer) { result = answer; },
               [&](const caf::error& why) { result = fail(from_caf(why)); });
  return result;
}

} // namespace hearth::engine
