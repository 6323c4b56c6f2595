// How the handle sends a request to an actor: a message with a completion, within the bound on
// requests in flight, with the caller's deadline and cancellation. Any thread.
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

/// When a call that begins now has to end; nothing: never.
std::optional<std::chrono::steady_clock::time_point> end_of(const call_options& options);

/// Asks the shard that owns the key: `what`, the key, `parts...` and a completion. The deadline of
/// the future is the caller's to keep: `wait`, or `expire`.
template <class T, class Verb, class... Parts>
future<T> ask(runtime_core& core, const call_options& options, Verb what, cache_key key,
              const Parts&... parts) {
  if (auto no = core.refusal()) return expected<T>(fail(*no));
  if (options.cancel.stop_requested()) return expected<T>(fail(called_off()));
  auto place = core.take_slot();
  if (!place) return expected<T>(fail(place.error()));
  auto state = call_state<T>::begin(options.cancel, std::move(*place));
  const auto& owner = core.shards().owner_of(key);
  actors::send_from_thread(owner, what, std::move(key), parts..., completion<T>(state));
  return future<T>(std::move(state));
}

/// Waits for an answer, no longer than the caller allowed.
template <class T>
expected<T> wait(future<T> answer, const call_options& options) {
  const auto end = end_of(options);
  return end ? answer.get_until(*end) : answer.get();
}

/// Has an answer end when the deadline passes, without anybody waiting.
template <class T>
void expire(runtime_core& core, const std::shared_ptr<completion_state<T>>& state,
            const call_options& options) {
  const auto end = end_of(options);
  if (!end) return;
  core.expiries().add(*end, state, [](completion_state<T>& late) {
    late.cancel(completion_state<T>::past_deadline());
  });
}

/// The asynchronous form of `ask`: the deadline is kept here.
template <class T, class Verb, class... Parts>
future<T> ask_async(runtime_core& core, const call_options& options, Verb what, cache_key key,
                    const Parts&... parts) {
  auto answer = ask<T>(core, options, what, std::move(key), parts...);
  if (const auto& state = answer.state()) expire(core, state, options);
  return answer;
}

} // namespace hearth::engine
