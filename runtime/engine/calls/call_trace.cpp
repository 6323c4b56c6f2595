#include "runtime/engine/calls/call_trace.hpp"

#include "runtime/engine/calls/ask_actor.hpp"

#include <iterator>
#include <utility>

namespace hearth::engine {
namespace {

std::int64_t nanoseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

} // namespace

call_trace::call_trace(runtime_core& core, const named_cache_ptr& cache, std::string_view key_bytes)
    : log_(core.trace()) {
  if (!log_) return;
  key_ = actors::traced_key(cache_key(cache, key_bytes));
  begin_step();
}

void call_trace::begin_step() {
  if (log_) start_ = std::chrono::steady_clock::now();
}

void call_trace::end_step(const char* category, tier from) {
  if (!log_) return;
  const auto end = std::chrono::steady_clock::now();
  trace_span span{key_,
                  category,
                  nanoseconds(start_.time_since_epoch()),
                  nanoseconds(end - std::exchange(start_, end)),
                  lease_ledger::this_thread(),
                  key_,
                  {}};
  if (from != tier::none) span.tier = to_string(from);
  log_->note(std::move(span));
}

span_list take_trace(runtime_core& core) {
  auto spans = ask_actor<span_list>(core, core.broker(), verb::trace_v).value_or(span_list{});
  if (!core.trace()) return spans;
  auto steps = core.trace()->take();
  spans.insert(spans.end(), std::make_move_iterator(steps.begin()),
               std::make_move_iterator(steps.end()));
  return spans;
}

} // namespace hearth::engine
