// A simulated world: hosts with a disk each, processes on them, clients in the processes, one
// stepped system for all. Scripts and the simulator drive it.
//
// One thread.
#pragma once

#include "runtime/simulation/simulated_cluster.hpp"
#include "runtime/simulation/simulated_process.hpp"

#include <caf/event_based_actor.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::simulation {

/// An actor or a thread of a process that sends requests.
struct client {
  std::string name;
  std::string process;
  caf::actor actor;
  caf::event_based_actor* self = nullptr; ///< valid while `actor` is
  bool is_alive() const { return static_cast<bool>(actor); }
  /// The actor, for sending from outside of its own handlers.
  caf::event_based_actor& sender() const { return sending_from_outside(*self); }
};

/// The tiers that a named cache uses, and whether it signs.
struct cache_use {
  bool memory = true, disk = true, remote = true, sign = false;
};

class world {
public:
  world() = default;
  world(const world&) = delete;
  world& operator=(const world&) = delete;
  ~world();

  stepped_system& system() { return system_; }

  // --- contents; unknown names are errors of the caller
  virtual_disk& add_host(const std::string& name);
  simulated_redis& add_remote(const std::string& name);
  /// Processes name a cluster as they name a server.
  simulated_cluster& add_cluster(const std::string& name, std::size_t groups);
  simulated_cluster& cluster(const std::string& name) { return *clusters_.at(name); }
  bool has_remote(const std::string& name) const {
    return remotes_.contains(name) || clusters_.contains(name);
  }
  simulated_redis& remote(const std::string& name) { return *remotes_.at(name); }
  /// A server, or a node of a cluster, or all nodes of one. Empty: it has no such node.
  std::vector<simulated_redis*> servers(const std::string& name, std::optional<std::size_t> node);
  /// The server, or the node of the cluster, that has this entry.
  simulated_redis& server_of(const std::string& name, std::string_view entry);
  /// How processes name entries on this server or cluster.
  storage::remote_naming naming_of(const std::string& server) const;
  simulated_process& add_process(const std::string& name, const std::string& host,
                                 process_options options);
  client& add_client(const std::string& name, const std::string& process);
  bool has_host(const std::string& name) const { return disks_.contains(name); }
  virtual_disk& disk_of(const std::string& host) { return *disks_.at(host); }
  /// Returns null for an unknown name.
  simulated_process* process(std::string_view name);
  client* find_client(std::string_view name);
  const std::map<std::string, std::unique_ptr<simulated_process>, std::less<>>& processes() const {
    return processes_;
  }
  std::map<std::string, client, std::less<>>& clients() { return clients_; }
  const std::string& host_of(const std::string& process) const { return hosts_.at(process); }

  /// Sets how all processes use a named cache; call it before the cache's first key.
  void set_cache(const std::string& name, const std::string& version, const cache_use& use);
  /// Errors: `invalid_argument` when the name or version cannot be one.
  expected<named_cache_ptr> cache(const std::string& name, const std::string& version);

  // --- events
  void start(simulated_process& process);
  bool stop(simulated_process& process);
  void kill(simulated_process& process);
  void kill(client& one);
  /// Every process of the host is killed at once.
  void kill_host(const std::string& host);
  /// Kills every process of the host and loses unsynced data, as `random` decides.
  void lose_power(const std::string& host, random_source& random);
  /// Starts a process's clients again after the process was restarted.
  void revive_clients(const simulated_process& process);

private:
  server_connector connector_to(const std::string& server);
  void spawn(client& one);
  void end_clients_of(const std::string& process);

  stepped_system system_;
  std::map<std::string, std::shared_ptr<virtual_disk>, std::less<>> disks_;
  std::map<std::string, std::shared_ptr<simulated_redis>, std::less<>> remotes_;
  std::map<std::string, std::shared_ptr<simulated_cluster>, std::less<>> clusters_;
  std::map<std::string, std::string, std::less<>> hosts_; // by process
  std::map<std::string, std::unique_ptr<simulated_process>, std::less<>> processes_;
  std::map<std::string, client, std::less<>> clients_;
  std::map<std::pair<std::string, std::string>, named_cache_ptr> caches_;
};

} // namespace hearth::simulation
