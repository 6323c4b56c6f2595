// Answers of one type made of answers of another.
#pragma once

#include "messages/visibility.hpp"
#include "runtime/api/future.hpp"

#include <memory>
#include <utility>

namespace HEARTH_PUBLIC hearth {

/// A future of what `convert`, a callable from `expected<In>` to `expected<Out>`, makes of the
/// answer of `from`. It is ready if `from` is; else `convert` runs on the thread that delivers that
/// answer. Giving it up gives up `from`.
template <class Out, class In, class Convert>
future<Out> mapped(future<In> from, Convert convert) {
  if (from.ready()) return expected<Out>(convert(from.get()));
  auto state = std::make_shared<completion_state<Out>>();
  state->on_give_up([asked = std::weak_ptr(from.state())] {
    if (const auto living = asked.lock())
      living->cancel({errc::cancelled, "the answer was given up"});
  });
  from.then([convert = std::move(convert), answer = completion<Out>(state)](
                expected<In> given) mutable { answer.deliver(convert(std::move(given))); });
  return future<Out>(std::move(state));
}

} // namespace hearth
