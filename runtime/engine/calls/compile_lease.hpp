// get_or_compile on a plain thread: the wait for a lease, and the compile under it. The memory
// shard owns the lease.
#pragma once

#include "runtime/api/call_options.hpp"
#include "runtime/api/compile_function.hpp"
#include "runtime/api/compile_outcome.hpp"
#include "runtime/api/future.hpp"
#include "runtime/engine/calls/call_trace.hpp"
#include "runtime/engine/calls/saved_time.hpp"
#include "runtime/engine/core.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>

namespace hearth::engine {

/// Asks for the artifact of `key` or the lease to make it. The caller enforces the deadline of the
/// future; one that gives up no longer waits for the lease.
future<lease_reply> ask_for_lease(runtime_core& core, const cache_key& key,
                                  const call_options& options);

/// The tier that had the artifact of a reply; none when it was waited for, or has to be made.
tier tier_of(const lease_reply& reply);
/// The step that a reply ends, as `call_trace` names it.
const char* step_of(const lease_reply& reply);

/// The outcome of a call whose lease request was answered with the artifact.
compile_outcome found_outcome(lease_reply reply);

/// Returns the artifact of `key` or the lease to make it. Errors: `timeout`, `cancelled`, the error
/// of the caller that compiles, `lease_cycle` when the wait could never end.
expected<lease_reply> wait_for_lease(runtime_core& core, const cache_key& key,
                                     const call_options& options);

/// Ends the lease of `key` with the artifact, which goes to every waiter, and returns the stored
/// one. Takes no in-flight slot: the requests that hold all slots may be waiting for this artifact.
/// Errors: why it was not stored; the waiters have it nevertheless.
expected<artifact> fulfil_lease(runtime_core& core, const cache_key& key, lease_id id,
                                const artifact& made);

/// The token of a compile callback: it stops at the call's deadline, with the call's own token, and
/// when the runtime shuts down.
class compile_stop {
public:
  compile_stop(runtime_core& core, const std::stop_token& cancel,
               std::optional<std::chrono::steady_clock::time_point> end = std::nullopt);

  std::stop_token token() const { return source_->get_token(); }
  void request_stop() { source_->request_stop(); }

private:
  struct stops_source {
    std::stop_source& source;
    void operator()() const { source.request_stop(); }
  };

  const std::shared_ptr<std::stop_source> source_;
  const std::stop_callback<stops_source> on_cancel_, on_shutdown_;
};

/// Runs `compile` under the lease and records in the artifact how long that took, and, if `ttl` is
/// above zero, when it ends. The returned
/// artifact or error goes to every waiter. When `compile` throws, ends its thread, or returns an
/// error after it was stopped, the lease goes to the next waiter, which compiles. Notes both steps
/// in `trace`.
expected<artifact> make_under_lease(runtime_core& core, const cache_key& key, lease_id id,
                                    const compile_function& compile, const std::stop_token& stop,
                                    std::chrono::milliseconds ttl, call_trace& trace);

/// The asynchronous form: the caller does not wait; `compile` runs on a thread of the runtime. A
/// hit that needs no compile is noted in `saved`, unless that is null.
future<compile_outcome> compile_async(const std::shared_ptr<runtime_core>& core,
                                      const cache_key& key, compile_function compile,
                                      const call_options& options,
                                      std::shared_ptr<saved_time> saved);

} // namespace hearth::engine
