// The runtime: creates the actors, connects them, and shuts them down.
//
// One object owns it; handles may outlive it and then return `closed`. It leaves signals, the
// locale and stderr alone. In the child of a fork its handles return hits, and `forked` for
// everything else; no call waits there for threads that the child lacks.
#pragma once

#include "messages/error.hpp"
#include "messages/visibility.hpp"
#include "runtime/api/cache_options.hpp"
#include "runtime/api/config.hpp"
#include "runtime/api/runtime_stats.hpp"
#include "runtime/engine/message_types.hpp"
#include "runtime/handle/cache.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace caf {
class actor_system;
} // namespace caf

namespace HEARTH_PUBLIC hearth {

class runtime {
public:
  /// Starts with an actor system of its own. When the store cannot be used, the runtime goes on
  /// without a disk tier and says so once in the log. Throws std::system_error when the system
  /// refuses the threads that it needs.
  explicit runtime(config settings);
  /// Starts in the host's actor system, which knows Hearth's message types and must outlive this.
  runtime(config settings, caf::actor_system& host);
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  /// Shuts down.
  ~runtime();

  /// Opens a named cache; every call with the same name and options returns the same one. Any
  /// thread. Errors: `invalid_argument` for an invalid name or version, for options that differ
  /// from those of the open cache, for a share of memory beyond the rest of the budget.
  expected<cache> open(std::string_view name, cache_options options = {});

  /// Returns the open cache of that identity; else a cache on disk only that stays unnamed, so that
  /// the host can still choose its options. For imports of caches that the host may never open.
  cache open_apart(const cache_id& id);

  /// Syncs the store, so that every acknowledged entry survives a power loss.
  expected<void> flush();

  /// Collects the counters of every shard; not from an actor. After shutdown: those that are still
  /// known.
  runtime_stats stats() const;

  /// Counts something that the host could not cache, by its reason: `structural_key::bypass`, or
  /// one of the host's. `stats` has the counts; beyond 1,000 reasons the rest is `other`. Any
  /// thread.
  void note_bypass(std::string_view reason);

  /// All counters, as a page for Prometheus (docs/metrics.md). Not from an actor. Errors: `closed`,
  /// `forked`.
  expected<std::string> metrics() const;

  /// What was done since the last call, for a trace: programs that ran, and with `config::trace`,
  /// for each call of get_or_compile, action and compile of a plan, with its key, the wait for the
  /// answer or the lease, the compile and the insert, or the hit and its tier. At most 100,000 of
  /// each kind are kept. Not from an actor.
  span_list trace() const;

  /// Whether there is a disk tier, and if not, why.
  bool has_disk() const noexcept;
  const error& disk_problem() const noexcept;

  /// Whether there is a remote tier, and if none was made although `remote.url` asks for one, why
  /// (a server that does not answer now is no reason: see `stats`).
  bool has_remote() const noexcept;
  const error& remote_problem() const noexcept;

  /// Answers earlier requests within `shutdown_deadline`; kills running programs; ends the
  /// runtime's own threads. Calls that still wait get `closed`. Idempotent.
  void shutdown();

private:
  friend class internals;

  std::shared_ptr<engine::runtime_core> core_;
};

} // namespace hearth
