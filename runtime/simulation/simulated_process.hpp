// One process of a simulated host: the real actors over the real store, on a simulated disk. It can
// be shut down as the runtime does it, or killed, with the same state on disk as after a real kill.
//
// One thread, that of the stepped system.
#pragma once

#include "runtime/simulation/message_table.hpp"
#include "runtime/simulation/process_files.hpp"
#include "runtime/simulation/simulated_compiler.hpp"
#include "runtime/simulation/simulated_redis.hpp"
#include "runtime/simulation/stepped_system.hpp"
#include "runtime/wiring/services.hpp"
#include "runtime/wiring/tiers.hpp"
#include "storage/remote/entry_names.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::simulation {

/// How a process uses a remote server.
struct remote_options {
  std::string server; ///< name of the server; empty: none
  remote_mode mode = remote_mode::read_write;
  std::chrono::milliseconds ttl{0};
  std::chrono::milliseconds lease_time{30'000};
  std::uint64_t max_value_bytes = 1u << 20;
  std::size_t queue_entries = 1024;
  storage::remote_naming naming;
  /// For the writes that are left at a shutdown; nothing: that of the shutdown.
  std::optional<std::chrono::milliseconds> drain_deadline;
  storage::signing_keys keys;
};

struct process_options {
  unsigned memory_shards = 1;
  std::uint64_t memory_bytes = 1u << 20;       ///< total of all memory shards
  std::chrono::milliseconds patience{300'000}; ///< of callers that wait for a lease
  bool disk = true;
  unsigned disk_shards = 1; ///< shards of a new store
  std::uint64_t disk_bytes = 8u << 20;
  std::uint64_t segment_bytes = 256u << 10;
  unsigned workers = 1;
  remote_options remote;
  std::vector<remote_options> farther; ///< servers behind it, nearest first; only with `remote`
  named_cache_ptr kernels_in;    ///< keeps the fuser's kernels; null: they end with the process
  std::uint64_t max_kernels = 0; ///< in the process; 0: no bound
  /// How this process uses a cache that another host names; set by the world.
  std::function<named_cache_ptr(const cache_id&)> cache_of;
};

/// Connects a process to its server or cluster.
using server_connector =
    std::function<std::shared_ptr<remote_connection>(const std::string& process)>;

class simulated_process {
public:
  /// `connect`: one for each server of the options, nearest first.
  simulated_process(stepped_system& system, std::string name, process_options options,
                    std::shared_ptr<virtual_disk> disk, std::vector<server_connector> connect = {});
  simulated_process(const simulated_process&) = delete;
  simulated_process& operator=(const simulated_process&) = delete;
  /// Kills the process if it still runs.
  ~simulated_process();

  /// Opens the store and starts the actors. Without a usable store it goes on without a disk tier,
  /// and says so in its log.
  void start();
  /// Shuts down as the runtime does: answers earlier requests, syncs and closes the store. False:
  /// it did not end within the deadline, and was killed.
  bool stop();
  /// Ends the process as kill -9 does.
  void kill();
  bool is_running() const { return running_; }
  /// Ends or mends the ways to the servers, now and after a restart.
  void cut_off(bool is_cut);

  const std::string& name() const { return name_; }
  const process_options& options() const { return options_; }
  process_files& files() { return *files_; }
  simulated_compiler& compiler() { return compiler_; }
  const std::vector<std::string>& log() const { return log_; }
  const std::shared_ptr<storage::store>& store() const { return store_; }
  const actors::shard_router& router() const { return tiers_.shards; }
  const std::vector<std::shared_ptr<storage::memory_view>>& views() const { return tiers_.views; }

  /// The actors of one kind, in order; empty when there are none.
  const std::vector<caf::actor>& actors_of(actor_kind kind) const;
  std::vector<caf::actor> all_actors() const;
  /// The memory or disk shard that owns this key; for other kinds the first actor.
  caf::actor owner(actor_kind kind, const cache_key* key) const;
  /// A figure of the actors of a kind, or of one of them: "hits", "leases_held", "pending".
  std::optional<std::uint64_t> figure(actor_kind kind, std::optional<std::size_t> index,
                                      std::string_view figure) const;
  /// The keys whose lease in the fleet this process holds from the server of this number.
  std::vector<cache_key> fleet_leases(std::size_t server) const;
  /// A figure of the store: "entries", "corrupt", "evicted".
  std::optional<std::uint64_t> store_figure(std::string_view figure) const;

private:
  template <class Handle>
  void enlist(actor_kind kind, const Handle& actor);
  void open_store();
  actors::remote_tier_config remote_tier(const remote_options& options,
                                         const server_connector& connect);
  void add_remotes(wiring::tier_ports& ports);
  wiring::tier_ports tier_ports();
  void start_tiers();
  void start_services();
  bool drain();
  void forget();
  actors::log_sink log_sink();

  stepped_system& system_;
  std::string name_;
  process_options options_;
  std::shared_ptr<virtual_disk> disk_;
  const std::vector<server_connector> connect_; // to each server
  std::vector<std::shared_ptr<remote_connection>> connections_;
  bool is_cut_off_ = false;
  unsigned starts_ = 0;
  std::unique_ptr<process_files> files_;
  simulated_compiler compiler_;
  std::vector<std::string> log_;
  std::shared_ptr<storage::store> store_;
  wiring::tier_actors tiers_;
  std::map<actor_kind, std::vector<caf::actor>> actors_;
  bool running_ = false;
};

} // namespace hearth::simulation
