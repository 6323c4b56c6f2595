// Waits until a large value can be sent. A connection that floods lookups of large values, or does
// not read them, waits by itself: looking up at once and refusing would cost a read of the disk
// each.
#pragma once

#include "runtime/server/connection/session.hpp"
#include "runtime/server/server_context.hpp"

#include <cstdint>
#include <functional>

namespace hearth::server {

/// Whether a value that was read for this connection can be sent, within the limit of all that are
/// being sent.
bool may_send(session_host& host, const server_context& context, std::uint64_t bytes);

/// Calls `next` on the connection's thread, at once or later: with true when there is room for
/// `bytes` within `limits.sending_bytes`, with false after ten seconds. Not at all if the
/// connection is gone by then.
void when_sendable(session_host& host, server_context& context, std::uint64_t bytes,
                   std::function<void(bool)> next);

} // namespace hearth::server
