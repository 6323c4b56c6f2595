// The destination of an actor's answer: the requesting actor, or a caller's completion. Used by the
// answering actor, on its own thread.
#pragma once

#include "messages/caf_compat.hpp"
#include "messages/completion.hpp"

#include <caf/typed_response_promise.hpp>

#include <functional>
#include <memory>
#include <utility>
#include <variant>

namespace hearth::actors {

/// The response that an actor has to deliver for a request. Copies share it; the first delivery
/// counts. If the last copy is destroyed without a delivery (for example because the actor ended),
/// the caller gets `closed`. CAF 0.17 sends nothing when a promise is dropped, so the caller would
/// wait for ever.
template <class... Ts>
class shared_promise {
public:
  using promise_type = caf::typed_response_promise<Ts...>;

  shared_promise() = default;
  shared_promise(promise_type promise)
      : end_(std::make_shared<end>(std::move(promise))) {}

  template <class... Us>
  void deliver(Us&&... results) const {
    if (end_ && end_->promise.pending()) end_->promise.deliver(std::forward<Us>(results)...);
  }
  /// The promise that the handler returns.
  const promise_type& promise() const { return end_->promise; }

private:
  struct end {
    explicit end(promise_type p)
        : promise(std::move(p)) {}
    end(const end&) = delete;
    end& operator=(const end&) = delete;
    ~end() {
      if (promise.pending())
        promise.deliver(to_caf({errc::closed, "the actor ended before it answered this request"}));
    }
    promise_type promise;
  };
  std::shared_ptr<end> end_;
};

/// One pending answer. It is delivered once; the requester gets `closed` if it is dropped
/// undelivered.
template <class T>
class reply_target {
public:
  using callback = std::function<bool(expected<T>)>;

  reply_target(caf::typed_response_promise<T> promise)
      : to_(shared_promise<T>(std::move(promise))) {}
  reply_target(completion<T> waiting)
      : to_(std::move(waiting)) {}
  /// An answer for this actor itself. `next` returns whether it took the result.
  reply_target(callback next)
      : to_(std::move(next)) {}

  /// Returns false if the requester no longer waits.
  bool deliver(expected<T> result) {
    if (auto* waiting = std::get_if<completion<T>>(&to_))
      return waiting->deliver(std::move(result));
    if (auto* next = std::get_if<callback>(&to_)) return (*next)(std::move(result));
    auto& promise = std::get<shared_promise<T>>(to_);
    if (result)
      promise.deliver(std::move(*result));
    else
      promise.deliver(to_caf(result.error()));
    return true;
  }

  /// False if the requester is known to have given up.
  bool wanted() const {
    const auto* waiting = std::get_if<completion<T>>(&to_);
    return !waiting || waiting->wanted();
  }

  /// The promise that the handler returns; only for an answer that was made from a promise.
  const caf::typed_response_promise<T>& promise() const {
    return std::get<shared_promise<T>>(to_).promise();
  }

private:
  std::variant<shared_promise<T>, completion<T>, callback> to_;
};

} // namespace hearth::actors
