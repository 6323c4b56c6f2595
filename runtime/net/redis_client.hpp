// Redis, Valkey or another server of their protocol as the remote tier sees it: a connection a
// lane, made when it is needed, and one thread for all of it. Any thread may send; answers come on
// the connections' thread.
#pragma once

#include "actors/ports/remote_client.hpp"
#include "runtime/net/name_lookup.hpp"
#include "runtime/net/remote_endpoint.hpp"

#include <functional>
#include <memory>

namespace hearth::net {

/// What the connections' thread does beside, whenever it has handled something. Made, used and
/// ended on that thread.
class side_work {
public:
  virtual ~side_work() = default;
  virtual void run() = 0;
  /// Whether something came to be done meanwhile.
  virtual bool has_more() const = 0;
};
using side_work_maker = std::function<std::unique_ptr<side_work>()>;

/// A server to send commands to; connects with the first. In the child of a fork it answers
/// `closed`. Errors: those of the CA, certificate and key files, `process_failed` when there is no
/// thread to be had. `resolve` finds the addresses of a host and may block.
expected<std::shared_ptr<actors::remote_client>>
connect_redis(remote_endpoint endpoint, side_work_maker beside = {},
              name_resolver resolve = resolve_by_system);

} // namespace hearth::net
