// Joins asynchronous calls: what one answers decides which call comes next. Any thread.
#pragma once

#include "messages/completion.hpp"
#include "runtime/api/future.hpp"

#include <memory>
#include <utility>

namespace hearth::server {

/// Delivers the answer of `asked` to `to`.
template <class T>
void forward(future<T> asked, const completion<T>& to) {
  if (asked.ready())
    to.deliver(asked.get());
  else
    asked.then([to](expected<T> answer) { to.deliver(std::move(answer)); });
}

/// The future that `next` returns for the answer of `asked`. Runs `next` at once when that is
/// ready.
template <class Out, class In, class Next>
future<Out> chain(future<In> asked, Next next) {
  if (asked.ready()) return next(asked.get());
  auto state = std::make_shared<completion_state<Out>>();
  const completion<Out> answer(state);
  asked.then([answer, next = std::move(next)](expected<In> given) {
    forward(next(std::move(given)), answer);
  });
  return future<Out>(std::move(state));
}

} // namespace hearth::server
