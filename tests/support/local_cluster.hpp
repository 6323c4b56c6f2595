// A real Redis Cluster for a test: three masters, each with a replica, on free ports of this
// machine. It ends with the object.
#pragma once

#include "tests/support/claimed_port.hpp"
#include "tests/support/local_redis.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace hearth::test {

struct cluster_setup {
  /// While a master is gone, the others go on (cluster-require-full-coverage no).
  bool serves_parts = true;
  std::chrono::milliseconds node_timeout{500}; ///< until a node counts as failed
  std::string password{};
};

class local_cluster {
public:
  static constexpr std::size_t masters = 3;
  static constexpr std::size_t nodes = 6;

  /// Returns when all nodes know of each other and all slots are served.
  explicit local_cluster(cluster_setup setup = {});

  /// "redis+cluster://127.0.0.1:PORT,127.0.0.1:PORT": the first and the last node.
  std::string url() const;
  /// The masters come first; each one's replica is `masters` further.
  local_redis& node(std::size_t index) const { return *nodes_[index]; }
  std::string address(std::size_t index) const;
  /// The reply of a node to a command, as text; "" for anything else. The test fails on an error.
  std::string ask(std::size_t index, std::vector<std::string> command) const;

  /// Waits until a master's replica has all that the master has now.
  void wait_for_replica(std::size_t master) const;
  /// The node that leads a slot now, by what another node says; `nodes` when it is unknown.
  std::size_t leader_of(std::uint16_t slot, std::size_t asked) const;
  /// Waits until another node than `former` leads a slot, by what `asked` says, and the cluster is
  /// well.
  void wait_for_new_leader(std::uint16_t slot, std::size_t former, std::size_t asked) const;
  /// Moves a slot with all its names from one master to another, while clients use it.
  void move_slot(std::uint16_t slot, std::size_t from, std::size_t to) const;

private:
  template <class Condition>
  void wait_until(const std::string& what, Condition condition) const;
  std::string id_of(std::size_t index) const;

  cluster_setup setup_;
  std::array<claimed_port, nodes> bus_ports_; // by which nodes speak to each other
  std::vector<std::unique_ptr<local_redis>> nodes_;
};

} // namespace hearth::test
