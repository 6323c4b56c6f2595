// The steps of one call of get_or_compile, for the runtime's trace; and the trace itself. Any
// thread.
#pragma once

#include "messages/cache_key.hpp"
#include "messages/replies.hpp"
#include "runtime/engine/core.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace hearth::engine {

/// Without a trace it does nothing. One thread at a time.
class call_trace {
public:
  /// The first step begins.
  call_trace(runtime_core& core, const named_cache_ptr& cache, std::string_view key_bytes);

  /// The next step begins now, instead of at the end of the last one.
  void begin_step();
  /// Notes the step that ends now: `wait` (for the answer or the lease), `compile`, `insert`; `hit`
  /// with the tier of an entry that was there.
  void end_step(const char* category, tier from = tier::none);

private:
  actors::trace_log* log_; // null: no trace
  std::string key_;
  std::chrono::steady_clock::time_point start_;
};

/// The spans since the last call: programs that ran, and, if the settings ask for a trace, the
/// steps of calls of get_or_compile, of actions and of plans. After shutdown the latter alone.
span_list take_trace(runtime_core& core);

} // namespace hearth::engine
