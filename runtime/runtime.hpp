// The runtime: makes the actors, wires them, and shuts them down.
//
// One object owns it; handles may outlive it and then answer `closed`. It leaves signals, the
// locale and stderr alone. In the child of a fork its handles answer hits, and `forked` to the
// rest; nothing of it waits there for threads that the child does not have.
#pragma once

#include "messages/error.hpp"
#include "runtime/cache.hpp"
#include "runtime/config.hpp"

#include <memory>
#include <string_view>

namespace caf {
class actor_system;
class actor_system_config;
} // namespace caf

namespace hearth {

/// Tells a host's actor system our message types; to be called before the system is made.
void add_message_types(caf::actor_system_config& host);

/// How a named cache is used.
struct cache_options {
  std::string_view version = "0"; ///< another version is another, empty cache
  bool memory = true;
  bool disk = true;
  bool remote = true;
};

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

  /// A named cache. Errors: `invalid_argument` for a name or version that cannot be one.
  expected<cache> open(std::string_view name, cache_options options = {});

  /// Makes everything that was acknowledged survive a power loss.
  expected<void> flush();

  /// Whether there is a disk tier, and if not, why.
  bool has_disk() const noexcept;
  const error& disk_problem() const noexcept;

  /// Answers what was asked, within the deadline, kills what runs, and ends every thread of its
  /// own. Whoever still waits gets `closed`. Idempotent.
  void shutdown();

  /// What our own parts work with.
  runtime_core& core() noexcept { return *core_; }

private:
  std::shared_ptr<runtime_core> core_;
};

} // namespace hearth
