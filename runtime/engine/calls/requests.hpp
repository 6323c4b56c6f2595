// Sends requests of the handle to actors: a message with a completion, within the bound on requests
// in flight, with the caller's deadline and cancellation. Any thread.
#pragma once

#include "actors/thread_unit.hpp"
#include "runtime/api/call_options.hpp"
#include "runtime/api/future.hpp"
#include "runtime/engine/calls/call_state.hpp"
#include "runtime/engine/core.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace hearth::engine {

/// The end of a call that begins now; empty: no deadline, or one that is centuries away.
std::optional<std::chrono::steady_clock::time_point> end_of(const call_options& options);

/// Why a call that has to ask or to wait must not begin: `cancelled`, or `timeout` with a deadline
/// of zero or less. Empty: it may.
std::optional<error> over_at_once(const call_options& options);

/// Sends `what`, the key, `parts...` and a completion to the shard that owns the key. The caller
/// enforces the deadline of the future, by `wait` or `expire`.
template <class T, class Verb, class... Parts>
future<T> ask(runtime_core& core, const call_options& options, Verb what, cache_key key,
              const Parts&... parts) {
  if (auto no = core.refusal()) return expected<T>(fail(*no));
  if (auto over = over_at_once(options)) return expected<T>(fail(*over));
  auto place = core.take_slot();
  if (!place) return expected<T>(fail(place.error()));
  auto state = call_state<T>::begin(options.stop(), std::move(*place));
  const auto& owner = core.shards().owner_of(key);
  actors::send_from_thread(owner, what, std::move(key), parts..., completion<T>(state));
  return future<T>(std::move(state));
}

/// Waits for an answer, at most until the caller's deadline.
template <class T>
expected<T> wait(future<T> answer, const call_options& options) {
  const auto end = end_of(options);
  return end ? answer.get_until(*end) : answer.get();
}

/// A request and its answer, for a call that returns it. A call without a deadline and a stop token
/// carries its request out on this thread, as far as the actors are idle (actors/caller_unit.hpp).
template <class T, class Verb, class... Parts>
expected<T> call(runtime_core& core, const call_options& options, Verb what, cache_key key,
                 const Parts&... parts) {
  const bool may_take_long = !options.deadline() && !options.stop().stop_possible();
  if (!may_take_long || actors::thread_unit::of_this_thread() ||
      actors::caller_unit::of_this_thread())
    return wait(ask<T>(core, options, what, std::move(key), parts...), options);
  future<T> answer;
  {
    const auto inside = core.enter_system();
    if (!inside) return fail(inside.error());
    actors::caller_unit unit(core.system());
    answer = ask<T>(core, options, what, std::move(key), parts...);
    unit.run();
  }
  return answer.get();
}

/// Ends a request when its deadline passes, without a waiting thread.
template <class T>
void expire(runtime_core& core, const std::shared_ptr<completion_state<T>>& state,
            const call_options& options) {
  const auto end = end_of(options);
  if (!end) return;
  core.expiries().add(*end, state, [](completion_state<T>& late) {
    late.cancel(completion_state<T>::past_deadline());
  });
}

/// The asynchronous form of `ask`, which enforces the deadline itself.
template <class T, class Verb, class... Parts>
future<T> ask_async(runtime_core& core, const call_options& options, Verb what, cache_key key,
                    const Parts&... parts) {
  auto answer = ask<T>(core, options, what, std::move(key), parts...);
  if (const auto& state = answer.state()) expire(core, state, options);
  return answer;
}

} // namespace hearth::engine
