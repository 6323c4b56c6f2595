// The internals of a runtime, used by handles, the orchestrator and the command line. Any thread.
//
// The objects that it returns are set once it runs and stay until it is destroyed, except the actor
// system and the actors with their own threads: shutdown ends these. A thread that is not CAF's
// calls `enter_system` before it uses either.
#pragma once

#include "actors/ports/programs.hpp"
#include "actors/ports/remote_client.hpp"
#include "actors/ports/trace_log.hpp"
#include "actors/remote_tier/remote_gate.hpp"
#include "messages/protocol.hpp"
#include "runtime/api/cache_options.hpp"
#include "runtime/api/config.hpp"
#include "runtime/api/runtime_stats.hpp"
#include "runtime/engine/threads/callback_threads.hpp"
#include "runtime/engine/threads/deadlines.hpp"
#include "runtime/engine/threads/inflight_limiter.hpp"
#include "runtime/engine/threads/lease_ledger.hpp"
#include "runtime/engine/threads/shutdown_gate.hpp"
#include "runtime/wiring/services.hpp"
#include "runtime/wiring/tiers.hpp"
#include "storage/disk/store.hpp"
#include "storage/memory/lookup_tally.hpp"
#include "storage/memory/memory_view.hpp"

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hearth::engine {

class runtime_core : public std::enable_shared_from_this<runtime_core> {
public:
  runtime_core(config settings, caf::actor_system* host);
  runtime_core(const runtime_core&) = delete;
  runtime_core& operator=(const runtime_core&) = delete;
  ~runtime_core();

  const config& settings() const noexcept { return settings_; }
  /// The number of programs that run concurrently.
  unsigned jobs() const noexcept { return jobs_; }
  caf::actor_system& system() noexcept { return *system_; }
  const actors::shard_router& shards() const noexcept { return tiers_.shards; }
  const compile_broker_actor& broker() const noexcept { return services_.broker; }
  const kernel_tuner_actor& tuner() const noexcept { return services_.tuner; }
  const guarded_cache_actor& guarded() const noexcept { return services_.guarded; }
  const autotune_cache_actor& autotune() const noexcept { return services_.autotune; }
  const action_cache_actor& actions() const noexcept { return services_.actions; }
  const artifact_recorder_actor& recorder() const noexcept { return services_.recorder; }
  const autotune_bundler_actor& bundler() const noexcept { return services_.bundler; }
  const metrics_actor& metrics() const noexcept { return services_.metrics; }
  /// Null unless the settings ask for a trace.
  actors::trace_log* trace() const noexcept { return trace_.get(); }
  /// Runs programs that are not actions.
  actors::process_runner& processes() noexcept { return *processes_; }
  /// Null without a disk tier; `disk_problem` says why.
  const std::shared_ptr<storage::store>& store() const noexcept { return store_; }
  const error& disk_problem() const noexcept { return disk_problem_; }
  /// Whether a miss of this cache asks the remote tier: there is one, and its breaker is closed.
  bool asks_remote(const named_cache& cache) const noexcept {
    return cache.remote && gate_ && (gate_->may_answer() || has_to_hear(cache));
  }
  /// Whether the disk may hold what other hosts removed before this process began.
  bool has_to_hear(const named_cache& cache) const noexcept {
    return cache.remote && gate_ && !gate_->has_heard_all();
  }
  bool has_remote() const noexcept { return gate_ != nullptr; }
  /// Why there is no remote tier, or one less, although the settings name one.
  const error& remote_problem() const noexcept { return remote_problem_; }
  /// The counters of the remote tier, after shutdown the last ones; empty without a remote tier.
  std::optional<remote_tier_stats> remote_stats();
  /// The view of the shard that owns a hash.
  storage::memory_view& view_of(std::uint64_t memory_hash) noexcept {
    return *tiers_.views[actors::memory_shard_of(memory_hash, tiers_.views.size())];
  }
  const std::vector<std::shared_ptr<storage::memory_view>>& views() const noexcept {
    return tiers_.views;
  }
  lease_ledger& ledger() noexcept { return ledger_; }
  /// Ends asynchronous calls whose deadline passed.
  deadlines& expiries() noexcept { return expiries_; }
  /// The threads of asynchronous compile callbacks.
  callback_threads& callbacks() noexcept { return callbacks_; }

  /// The cache of that name and version; each call returns the same object. Errors:
  /// `invalid_argument` when it is open with other options, or its share of the memory budget
  /// exceeds the rest.
  /// `foreign`: as `named_cache::foreign`.
  expected<named_cache_ptr> name(const cache_id& id, const cache_options& options,
                                 bool foreign = false);

  /// The open cache of that name and version; else a cache on disk only, which `name` does not
  /// return, so that a later call of `name` can choose the options.
  named_cache_ptr name_apart(const cache_id& id);

  /// The open cache of that name and version; else what an open one would be by default, without
  /// memory.
  named_cache_ptr find_named(const cache_id& id);

  /// Registers an actor that a handle spawned. It ends with the runtime, before the actors that it
  /// sends requests to, or with its handle (`release`), whichever comes first.
  void adopt(const caf::actor& one);
  /// Ends an adopted actor after it has answered earlier requests. Any thread.
  void release(const caf::actor& one);

  runtime_stats stats();
  void note_bypass(std::string_view reason);

  /// Whether this process is the child of a fork, which lacks the runtime's threads.
  bool is_forked() const noexcept;
  /// Keeps the actor system until the pass is destroyed. A call that spawns actors or blocks on
  /// their answers holds one. Errors: as `refusal`.
  expected<shutdown_gate::pass> enter_system();
  /// The reason why messages cannot be sent: `forked` or `closed`. Empty: they can.
  std::optional<error> refusal() const;
  /// Takes a slot of the requests in flight. A thread that holds a lease gets an empty one: the
  /// requests that hold all slots may wait for its artifact.
  expected<inflight_limiter::slot> take_slot();
  void log(log_level level, std::string_view text) const;
  std::stop_token stop_token() const { return stop_.get_token(); }

  void shutdown();

private:
  // A cache's name and version.
  using cache_name = std::pair<std::string, std::string>;
  // The counters of a named cache, also of one that is open apart.
  struct counted_cache {
    storage::lookup_tally lookups;
    std::shared_ptr<cache_counters> shared = std::make_shared<cache_counters>();
  };

  bool is_remote(const cache_id& id) const;
  void count_in(named_cache& cache);
  std::vector<named_cache_counts> cache_counts_by_name();
  void check_threads(unsigned scheduled) const;
  void abandon_system() noexcept;
  void open_store();
  std::vector<actors::remote_tier_config> open_remotes();
  wiring::tier_ports tier_ports();
  wiring::service_ports service_ports();
  std::optional<remote_tier_stats> ask_remote_stats();
  void drain();
  void end_actors();

  config settings_;
  unsigned jobs_;
  error disk_problem_;
  error remote_problem_;
  std::shared_ptr<storage::store> store_;
  std::unique_ptr<caf::actor_system_config> own_system_config_;
  std::unique_ptr<caf::actor_system> own_system_;
  caf::actor_system* system_;
  wiring::tier_actors tiers_;
  wiring::service_actors services_;
  std::vector<std::shared_ptr<actors::remote_client>> servers_;
  std::shared_ptr<const actors::remote_gate> gate_; // null: no remote tier
  std::mutex last_remote_stats_mutex_;
  std::optional<remote_tier_stats> last_remote_stats_; // as of shutdown
  bool signs_ = false;                                 // signs every cache
  std::shared_ptr<actors::process_runner> processes_;
  std::shared_ptr<actors::trace_log> trace_; // null: no trace
  std::mutex bypasses_mutex_;                // protects bypasses_
  std::map<std::string, std::uint64_t, std::less<>> bypasses_;
  std::stop_source stop_;
  std::shared_ptr<inflight_limiter> inflight_;
  lease_ledger ledger_;
  deadlines expiries_;
  callback_threads callbacks_;
  std::mutex adopted_mutex_;
  std::unordered_map<caf::actor_id, caf::actor> adopted_;
  std::mutex names_mutex_;
  std::map<cache_name, named_cache_ptr> names_;
  std::map<cache_name, named_cache_ptr> names_apart_;
  std::map<cache_name, counted_cache> counted_;
  std::uint64_t memory_shares_ = 0; // bytes, sum over all named caches
  std::atomic<bool> closed_{false};
  shutdown_gate gate_to_system_; // closed by shutdown, which waits for the calls inside
  const std::uint64_t fork_generation_;
};

} // namespace hearth::engine
