// What answers the C interface: a runtime in this process, or the store alone.
#pragma once

#include "messages/artifact.hpp"
#include "messages/cache_counters.hpp"
#include "messages/cache_id.hpp"
#include "messages/error.hpp"
#include "messages/key.hpp"
#include "messages/replies.hpp"
#include "messages/unique_function.hpp"
#include "runtime/api/call_options.hpp"
#include "runtime/api/runtime_stats.hpp"
#include "runtime/handle/cache.hpp"

#include "bindings/c/include/hearth.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace hearth::c {

/// The right to make one entry; without an end, its destruction releases it. One thread.
class lease {
public:
  virtual ~lease() = default;
  /// Stores the entry and returns what is stored now.
  virtual expected<artifact> fulfil(const artifact& made) = 0;
  virtual void abandon(const error& why) = 0;
  virtual void beat() = 0;
};

struct acquisition {
  lookup found;
  std::unique_ptr<lease> held; ///< null on a hit
};

/// A named cache. Any thread.
class cache_backing {
public:
  virtual ~cache_backing() = default;
  /// The handle that answers `get`, so that a hit needs no virtual call; null: there is none.
  virtual const cache* handle() const noexcept { return nullptr; }
  /// What hits through this interface saved is added here.
  virtual cache_counters& counters() noexcept = 0;
  virtual cache_counts counts() const noexcept = 0;
  virtual expected<lookup> get(const key& k) = 0;
  /// In memory and on disk alone. A miss is not counted: the caller acquires the key next.
  virtual expected<lookup> look(const key& k) = 0;
  virtual lookup_list get_many(std::span<const key> keys) = 0;
  virtual expected<insert_outcome> insert(const key& k, const artifact& value) = 0;
  virtual expected<void> put(const key& k, const artifact& value) = 0;
  virtual expected<bool> erase(const key& k) = 0;
  virtual expected<acquisition> acquire(const key& k, const call_options& options) = 0;

  using lookup_answer = unique_function<void(expected<lookup>)>;
  using insert_answer = unique_function<void(expected<insert_outcome>)>;
  /// False: there are no asynchronous calls; nothing is called.
  virtual bool get_async(const key& k, lookup_answer answer) = 0;
  virtual bool insert_async(const key& k, const artifact& value, insert_answer answer) = 0;
};

/// An open store. Any thread.
class host_backing {
public:
  virtual ~host_backing() = default;
  virtual expected<std::shared_ptr<cache_backing>> open(const cache_id& id) = 0;
  virtual std::string disk_problem() const = 0;
  virtual std::string remote_problem() const = 0;
  virtual expected<void> flush() = 0;
  virtual runtime_stats stats() const = 0;
  virtual void close() = 0;
};

/// Errors: `io` when the system refuses the threads that a runtime needs.
expected<std::unique_ptr<host_backing>> start_runtime(const char* store,
                                                      const hearth_options& options);
/// Errors: `invalid_argument` without a store, or with a remote tier.
expected<std::unique_ptr<host_backing>> open_plain_store(const char* store,
                                                         const hearth_options& options);

} // namespace hearth::c
