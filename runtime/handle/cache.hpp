// The cache handle: a named cache as callers use it.
//
// Any number of threads may share a handle, or copies of it. A hit in memory or on disk takes no
// lock and sends no message; everything else is a message to the actor that owns the key.
#pragma once

#include "messages/artifact.hpp"
#include "messages/cache_counters.hpp"
#include "messages/cache_key.hpp"
#include "messages/key.hpp"
#include "messages/replies.hpp"
#include "messages/visibility.hpp"
#include "runtime/api/call_options.hpp"
#include "runtime/api/compile_function.hpp"
#include "runtime/api/compile_outcome.hpp"
#include "runtime/api/future.hpp"

#include <chrono>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace HEARTH_PUBLIC hearth {

namespace engine {
class runtime_core;
class saved_time;
} // namespace engine

class cache {
public:
  /// An empty handle, to be assigned. Its calls return `invalid_argument`.
  cache() noexcept = default;
  explicit operator bool() const noexcept { return core_ != nullptr; }

  /// Looks in memory, then on disk, then in the remote tier. A miss is no error:
  /// `if (auto found = cache.get(key); found && found->hit()) use(found->value);`
  /// Errors: `corrupt` (reported once; the entry is dropped), `invalid_key`, `overloaded`;
  /// `timeout` and `cancelled` by the options.
  expected<lookup> get(const key& k) const;
  expected<lookup> get(const key& k, const call_options& options) const;
  /// The same; ready at once when the entry is in memory or on disk.
  future<lookup> get_async(const key& k) const;
  future<lookup> get_async(const key& k, const call_options& options) const;

  /// Looks up many keys together, which costs less than one by one. The answers are in the order of
  /// the keys, each as `get` returns it.
  lookup_list get_many(std::span<const key> keys, const call_options& options = {}) const;
  future<lookup_list> get_many_async(std::span<const key> keys,
                                     const call_options& options = {}) const;

  /// Inserts into every tier; never replaces. An acknowledged entry survives a kill of this
  /// process. Errors: `no_space`, `io`, `read_only`, `too_large`, `forked`, `closed`, ...
  expected<insert_outcome> insert(const key& k, const artifact& value,
                                  const call_options& options = {}) const;
  future<insert_outcome> insert_async(const key& k, const artifact& value,
                                      const call_options& options = {}) const;

  /// Inserts or replaces.
  expected<void> put(const key& k, const artifact& value, const call_options& options = {}) const;
  future<done> put_async(const key& k, const artifact& value,
                         const call_options& options = {}) const;

  /// Drops the entry. Returns whether there was one.
  expected<bool> erase(const key& k, const call_options& options = {}) const;
  future<bool> erase_async(const key& k, const call_options& options = {}) const;

  /// Returns the entry, or calls `compile` to make it. One of all concurrent callers of a key, in
  /// any thread and process, compiles; the others get its artifact or its error, once.
  ///
  /// `compile` runs on this thread. An error that it returns goes to every waiter; the next call
  /// compiles again. The next waiter compiles at once when the callback throws (this caller gets
  /// `compile_failed`), returns `cancelled`, returns an error after its token was stopped, or ends
  /// its thread. Errors: the callback's; `timeout` when another caller's compile outlasts the
  /// deadline (one's own is told by its token, and waited for); `cancelled`; `lease_cycle` when
  /// waiting could never end.
  expected<artifact> get_or_compile(const key& k, const compile_function& compile,
                                    const call_options& options = {}) const;
  /// The same, with `compile` run on a thread of the runtime. After a deadline or a cancellation
  /// the answer comes at once, and `compile`, if it has begun, may still run: what it captured must
  /// live until then, and its token tells it to stop.
  future<artifact> get_or_compile_async(const key& k, compile_function compile,
                                        const call_options& options = {}) const;

  /// As `get_or_compile`; tells also whether it was a hit, in which tier, and who compiled.
  expected<compile_outcome> lookup_or_compile(const key& k, const compile_function& compile,
                                              const call_options& options = {}) const;
  future<compile_outcome> lookup_or_compile_async(const key& k, compile_function compile,
                                                  const call_options& options = {}) const;

  /// Not of an empty handle.
  const cache_id& id() const noexcept { return cache_->id; }

  /// What this process did in the named cache, by all its handles, since the runtime opened it
  /// first. Exact: a call is counted before it returns. Takes no lock and sends no message.
  cache_counts counts() const noexcept;

  /// The time that hits of this handle and its copies have saved; zero unless it was opened with
  /// `on_time_saved`. `lookup::time_saved` tells that of one hit.
  std::chrono::nanoseconds time_saved() const noexcept;

private:
  friend class internals;
  friend class runtime;
  cache(std::shared_ptr<engine::runtime_core> core, named_cache_ptr named,
        std::shared_ptr<engine::saved_time> saved = nullptr)
      : core_(std::move(core))
      , cache_(std::move(named))
      , saved_(std::move(saved)) {}

  std::shared_ptr<engine::runtime_core> core_;
  named_cache_ptr cache_;
  std::shared_ptr<engine::saved_time> saved_; // null: time saved is not counted
};

} // namespace hearth
