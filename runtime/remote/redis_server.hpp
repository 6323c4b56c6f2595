// Redis, Valkey or another server of their protocol as the remote tier sees it: a connection a
// lane, made when it is needed, and one thread for all of it. Any thread may send; answers come on
// the connections' thread.
#pragma once

#include "actors/remote_server.hpp"
#include "runtime/remote/name_lookup.hpp"
#include "runtime/remote/remote_endpoint.hpp"

#include <caf/fwd.hpp>

#include <memory>

namespace hearth {

/// A server to send commands to; connects with the first. In the child of a fork it answers
/// `closed`. Errors: those of the CA, certificate and key files, `process_failed` when there is no
/// thread to be had. Actors of `system` that answers wake may run on the connections' thread; null:
/// none do. It outlives the server until that is closed. `resolve` finds the addresses of a host
/// and may block.
expected<std::shared_ptr<actors::remote_server>>
connect_redis(remote_endpoint endpoint, caf::actor_system* system = nullptr,
              name_resolver resolve = resolve_by_system);

} // namespace hearth
