// get_or_compile from a plain thread's side: the wait for a lease, and the lease in a thread's
// hands. The lease itself is the memory shard's.
#pragma once

#include "runtime/api/call_options.hpp"
#include "runtime/api/compile_function.hpp"
#include "runtime/api/future.hpp"
#include "runtime/engine/calls/saved_time.hpp"
#include "runtime/engine/core.hpp"

#include <memory>
#include <stop_token>

namespace hearth::engine {

/// The artifact of `key`, or the lease to make it, or an error: `timeout` or `cancelled`, what
/// whoever makes it says, `lease_cycle` when the wait could never end.
expected<lease_reply> wait_for_lease(runtime_core& core, const cache_key& key,
                                     const call_options& options);

/// Runs `compile` under the lease and records in the artifact how long that took. What it returns,
/// artifact or error, goes to every waiter. When it throws, when its thread ends in it, or when it
/// was cancelled, the lease goes to the next waiter, which compiles.
expected<artifact> make_under_lease(runtime_core& core, const cache_key& key, lease_id id,
                                    const compile_function& compile, const std::stop_token& cancel);

/// The asynchronous form: nobody waits; `compile` runs on a thread of the runtime's. A hit after
/// all is noted in `saved`, if there is one.
future<artifact> compile_async(const std::shared_ptr<runtime_core>& core, const cache_key& key,
                               compile_function compile, const call_options& options,
                               std::shared_ptr<saved_time> saved);

} // namespace hearth::engine
