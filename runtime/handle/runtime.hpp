// The runtime: makes the actors, wires them, and shuts them down.
//
// One object owns it; handles may outlive it and then answer `closed`. It leaves signals, the
// locale and stderr alone. In the child of a fork its handles answer hits, and `forked` to the
// rest; nothing of it waits there for threads that the child does not have.
#pragma once

#include "messages/error.hpp"
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

namespace hearth {

class runtime {
public:
  /// Starts with an actor system of its own. When the store cannot be used, the runtime goes on
  /// without a disk tier and says so once in the log.
  explicit runtime(config settings);
  /// Starts in the host's actor system, which has our message types and outlives this.
  runtime(config settings, caf::actor_system& host);
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  /// Shuts down.
  ~runtime();

  /// A named cache; the same one for all who name it with the same options. Any thread. Errors:
  /// `invalid_argument` for a name or version that cannot be one, for options other than those it
  /// is open with, for a share of memory beyond what is left.
  expected<cache> open(std::string_view name, cache_options options = {});

  /// Returns the open cache of that identity; else a cache on disk alone that stays unnamed, so
  /// that the host can still choose its options. For imports of caches that the host may never
  /// open.
  cache open_apart(const cache_id& id);

  /// Makes everything that was acknowledged survive a power loss.
  expected<void> flush();

  /// Asks every shard; not from an actor. Of a runtime that is shut down: what is still known.
  runtime_stats stats() const;

  /// Every counter, as a page that Prometheus reads (docs/metrics.md). Not from an actor. Errors:
  /// `closed`, `forked`.
  expected<std::string> metrics() const;

  /// Whether there is a disk tier, and if not, why.
  bool has_disk() const noexcept;
  const error& disk_problem() const noexcept;

  /// Answers the requests made before, within `shutdown_deadline`; kills running programs; ends the
  /// runtime's own threads. Calls that still wait get `closed`. Idempotent.
  void shutdown();

private:
  friend class internals;

  std::shared_ptr<engine::runtime_core> core_;
};

} // namespace hearth
