// A simulated Redis Cluster: groups of a master and a replica, slots that move, replicas that come
// to lead, and a split. Processes reach it by the router of the runtime, over simulated
// connections.
//
// One thread, that of the stepped system.
#pragma once

#include "runtime/simulation/simulated_redis.hpp"
#include "storage/resp/cluster_slots.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::simulation {

class simulated_cluster {
public:
  static constexpr std::size_t nodes_of_group = 2;

  /// Each of the groups leads the same number of slots. Group g has the nodes 2 g, which leads it
  /// at first, and 2 g + 1.
  simulated_cluster(stepped_system& system, const std::string& name, std::size_t groups);
  simulated_cluster(const simulated_cluster&) = delete;
  simulated_cluster& operator=(const simulated_cluster&) = delete;
  /// Ends its actors; connections must be closed or dead.
  ~simulated_cluster();

  std::shared_ptr<remote_connection> connect(const std::string& process);

  std::size_t groups() const { return now_.leaders.size(); }
  /// Its actors: the nodes, and the timers of its clients.
  std::size_t actors() const { return nodes_.size() + 1; }
  std::size_t nodes() const { return nodes_.size(); }
  simulated_redis& node(std::size_t number) { return *nodes_[number]; }
  /// The node that leads a group. While the cluster is split: that of the majority.
  simulated_redis& leader(std::size_t group) { return *nodes_[now_.leaders[group]]; }
  /// The node that leads the slot of this name.
  simulated_redis& leader_of(std::string_view name);

  /// The replica of a group leads from now on, with what its master has, or with what the master
  /// kept last. The master is its replica, as soon as it is well.
  void fail_over(std::size_t group, bool loses_what_is_recent);
  /// A sixteenth of the slots moves, with all names in them.
  void move_slots(std::size_t part, std::size_t to_group);
  static constexpr std::size_t parts = 16;
  /// That which has the slot of this name.
  static std::size_t part_of(std::string_view name);

  /// The master of the group, and these processes, reach nobody else; the others do not reach it.
  /// Its writes from now on do not reach its replica.
  void split(std::size_t group, std::set<std::string> processes);
  /// The master that is apart stops to serve, as one does that has not heard of the others for
  /// long.
  void stop_minority();
  /// The split ends. If its replica leads by now, what the master got meanwhile is lost.
  void join();
  bool is_split() const { return apart_.has_value(); }

  /// Whether every client knows all nodes to be well, holds nothing back, and waits for no answer
  /// that is late.
  bool is_well_for_all() const;

private:
  class client;
  friend class client;

  // Who leads, as nodes know it.
  struct view {
    std::vector<std::size_t> owners;  ///< the group of each part of the slots
    std::vector<std::size_t> leaders; ///< the node of each group
  };

  static std::size_t part_of(std::uint16_t slot);
  static storage::cluster_address address_of(std::size_t node);
  bool is_apart(std::size_t node) const { return apart_ && apart_->node == node; }
  const view& view_of(std::size_t node) const;
  std::optional<actors::remote_reply> answer(std::size_t node,
                                             const actors::remote_client::command& arguments) const;
  actors::remote_reply slots_reply(const view& known) const;
  bool can_reach(const std::string& process, std::size_t node) const;
  void update_ways();
  void tell_nodes();

  std::uint64_t later(std::chrono::nanoseconds wait, std::function<void()> what);
  void run(std::uint64_t number);

  struct minority {
    std::size_t node;
    std::set<std::string> processes;
    view known;
    bool is_stopped = false;
  };

  stepped_system& system_;
  caf::actor timer_;
  std::vector<std::unique_ptr<simulated_redis>> nodes_; // of group g: 2 g and 2 g + 1
  view now_;
  std::optional<minority> apart_;
  std::vector<client*> clients_; // in the order in which they came, which no address decides
  std::map<std::uint64_t, std::function<void()>> tasks_;
  std::uint64_t last_task_ = 0;
};

} // namespace hearth::simulation
