// A protocol's side of one connection, without a socket: it takes bytes in and appends replies to
// an output queue. All calls of a session come from the thread of its connection.
#pragma once

#include "runtime/api/future.hpp"
#include "runtime/server/access/identity.hpp"
#include "runtime/server/connection/output_queue.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace hearth::server {

/// What a session needs of its connection. All functions: on the connection's thread, except
/// `post`.
class session_host : public std::enable_shared_from_this<session_host> {
public:
  virtual ~session_host() = default;

  virtual output_queue& output() = 0;
  /// The session went on by itself (an answer has come): send the output, and read again if the
  /// session is ready.
  virtual void resume() = 0;
  /// No more bytes are read; the connection ends once the output is sent.
  virtual void close_after_output() = 0;
  /// Runs `task` on the connection's thread, later. Any thread. Dropped if the connection is gone.
  virtual void post(std::function<void()> task) = 0;
  /// Runs `task` on the connection's thread after `delay`, unless the connection is gone.
  virtual void post_after(std::chrono::milliseconds delay, std::function<void()> task) = 0;

  /// A large value was read for this connection: what holds it beside the output should let go of
  /// it soon.
  virtual void note_loaded(std::uint64_t /*bytes*/) {}

  /// The peer's address without its port, or "unix"; for logs and rate limits.
  virtual const std::string& peer() const = 0;
  /// The identity that the listener gives to clients without credentials; null: they must have
  /// some.
  virtual const identity_ptr& anonymous() const = 0;

  /// Whether the listener holds the misses of users that do not say.
  virtual bool holds_misses() const { return false; }
  /// Whether a miss of this client makes it the holder of the key's lease.
  bool may_hold(const identity& who) const {
    return who.may_write() && who.hold_misses.value_or(holds_misses());
  }

  /// Calls `next` with the answer on the connection's thread: at once if it is ready. Not at all if
  /// the connection is gone by then.
  template <class T, class Next>
  void when_answered(future<T> asked, Next next) {
    if (asked.ready()) return next(asked.get());
    asked.then([weak = weak_from_this(), next = std::move(next)](expected<T> answer) mutable {
      const auto self = weak.lock();
      if (!self) return;
      auto kept = std::make_shared<expected<T>>(std::move(answer));
      self->post([next, kept] { next(std::move(*kept)); });
    });
  }
};

class session {
public:
  virtual ~session() = default;

  /// Where the next bytes are to be read to; never empty.
  virtual std::span<char> room() = 0;
  /// The first `count` bytes of the last `room()` were filled. Handles the requests that are
  /// complete, as far as `is_ready` allows.
  virtual void received(std::size_t count) = 0;
  /// Whether more bytes should be read now. False while a request waits for its answer and while
  /// more output waits than the connection may keep.
  virtual bool is_ready() const = 0;
  /// Output was sent: handle the requests that were put off because of it.
  virtual void sent() = 0;
  /// All output was sent, and none follows: what the client held here ends.
  virtual void output_ended() {}
  /// The server ends: finish what has begun, refuse or end the rest, then `close_after_output`.
  virtual void drain() = 0;
  /// Whether it is between two requests and nothing waits for an answer.
  virtual bool is_idle() const = 0;
  /// Whether requests that were received whole will be answered although it is ready for more
  /// bytes: a peer that ends its input still gets these replies.
  virtual bool will_reply() const { return false; }
};

} // namespace hearth::server
