// Where an actor's answer goes: to the actor that asked, or to a caller's completion. Used by the
// actor that was asked, on its own thread.
#pragma once

#include "messages/caf_compat.hpp"
#include "messages/completion.hpp"

#include <caf/typed_response_promise.hpp>

#include <functional>
#include <utility>
#include <variant>

namespace hearth::actors {

/// One pending answer. It is delivered once; an answer that is dropped undelivered says `closed` to
/// a completion, so every path delivers.
template <class T>
class answer {
public:
  using callback = std::function<bool(expected<T>)>;

  answer(caf::typed_response_promise<T> promise)
      : to_(std::move(promise)) {}
  answer(completion<T> waiting)
      : to_(std::move(waiting)) {}
  /// An answer that this actor itself waits for. It returns whether the result was taken.
  answer(callback next)
      : to_(std::move(next)) {}

  /// False when nobody waits for it any more.
  bool deliver(expected<T> result) {
    if (auto* waiting = std::get_if<completion<T>>(&to_))
      return waiting->deliver(std::move(result));
    if (auto* next = std::get_if<callback>(&to_)) return (*next)(std::move(result));
    auto& promise = std::get<caf::typed_response_promise<T>>(to_);
    if (result)
      promise.deliver(std::move(*result));
    else
      promise.deliver(to_caf(result.error()));
    return true;
  }

  /// False when it is known that nobody waits for it any more.
  bool wanted() const {
    const auto* waiting = std::get_if<completion<T>>(&to_);
    return !waiting || waiting->wanted();
  }

  /// The promise that a handler returns; only for an answer made of one.
  const caf::typed_response_promise<T>& promise() const {
    return std::get<caf::typed_response_promise<T>>(to_);
  }

private:
  std::variant<caf::typed_response_promise<T>, completion<T>, callback> to_;
};

} // namespace hearth::actors
