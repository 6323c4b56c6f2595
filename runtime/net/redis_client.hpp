// The remote tier's client for Redis, Valkey and other servers of their protocol: one connection
// per lane, opened when it is needed, and one thread for all of them. Any thread may send; answers
// come on the connections' thread.
#pragma once

#include "actors/ports/remote_client.hpp"
#include "runtime/net/name_lookup.hpp"
#include "runtime/net/remote_endpoint.hpp"

#include <functional>
#include <memory>

namespace hearth::net {

/// Additional work of the connections' thread, after each event that it handled. Created, used and
/// destroyed on that thread.
class side_work {
public:
  virtual ~side_work() = default;
  virtual void run() = 0;
  /// Whether there is new work.
  virtual bool has_more() const = 0;
};
using side_work_maker = std::function<std::unique_ptr<side_work>()>;

/// Creates a client, which connects at its first command. In the child of a fork it answers
/// `closed`. `resolve` finds the addresses of a host and may block. Errors: those of the CA,
/// certificate and key files, `process_failed` when no thread can be started.
expected<std::shared_ptr<actors::remote_client>>
connect_redis(remote_endpoint endpoint, side_work_maker beside = {},
              name_resolver resolve = resolve_by_system);

} // namespace hearth::net
