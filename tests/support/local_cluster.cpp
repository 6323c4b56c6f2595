#include "tests/support/local_cluster.hpp"

#include "tests/support/asker.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <utility>

namespace hearth::test {
namespace {

constexpr std::size_t slots = storage::cluster_slots;

std::vector<std::string> node_arguments(std::uint16_t bus_port, const cluster_setup& setup) {
  std::vector<std::string> arguments{"--cluster-enabled",
                                     "yes",
                                     "--cluster-config-file",
                                     "nodes.conf",
                                     "--cluster-node-timeout",
                                     std::to_string(setup.node_timeout.count()),
                                     "--cluster-port",
                                     std::to_string(bus_port),
                                     "--cluster-replica-validity-factor",
                                     "0",
                                     "--cluster-require-full-coverage",
                                     setup.serves_parts ? "no" : "yes",
                                     "--repl-diskless-sync-delay",
                                     "0"};
  if (!setup.password.empty()) arguments.insert(arguments.end(), {"--masterauth", setup.password});
  return arguments;
}

std::string text_of(const storage::resp_value& value) {
  return value.type == storage::resp_value::kind::integer ? std::to_string(value.integer)
                                                          : value.text;
}

} // namespace

local_cluster::local_cluster(cluster_setup setup)
    : setup_(std::move(setup)) {
  for (std::size_t i = 0; i < nodes; ++i) {
    redis_setup one;
    one.tcp = true;
    one.password = setup_.password;
    one.arguments = node_arguments(bus_ports_[i].number(), setup_);
    nodes_.push_back(std::make_unique<local_redis>(std::move(one)));
  }
  for (std::size_t i = 0; i < masters; ++i) {
    const auto first = i * slots / masters, last = (i + 1) * slots / masters - 1;
    ask(i, {"CLUSTER", "ADDSLOTSRANGE", std::to_string(first), std::to_string(last)});
    ask(i, {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
  }
  for (std::size_t i = 1; i < nodes; ++i)
    ask(0, {"CLUSTER", "MEET", "127.0.0.1", std::to_string(node(i).port()),
            std::to_string(bus_ports_[i].number())});
  const auto knows_all = [this](std::size_t index) {
    const auto info = ask(index, {"CLUSTER", "INFO"});
    return info.find("cluster_state:ok") != std::string::npos &&
           info.find("cluster_known_nodes:6") != std::string::npos;
  };
  for (std::size_t i = 0; i < nodes; ++i)
    wait_until("node " + std::to_string(i) + " knows all", [&] { return knows_all(i); });
  for (std::size_t i = masters; i < nodes; ++i)
    ask(i, {"CLUSTER", "REPLICATE", id_of(i - masters)});
  for (std::size_t i = 0; i < masters; ++i)
    wait_until("master " + std::to_string(i) + " has a replica", [&] {
      return ask(i, {"INFO", "replication"}).find("state=online") != std::string::npos;
    });
  // Each node has heard who replicates whom, so that a failed master's replica is voted for.
  for (std::size_t i = 0; i < nodes; ++i)
    wait_until("node " + std::to_string(i) + " knows the replicas", [&] {
      const auto all = ask(i, {"CLUSTER", "NODES"});
      std::size_t count = 0;
      for (auto at = all.find("slave "); at != std::string::npos; at = all.find("slave ", at + 1))
        ++count;
      return count == nodes - masters;
    });
}

std::string local_cluster::url() const {
  const auto login = setup_.password.empty() ? "" : setup_.password + "@";
  return "redis+cluster://" + login + address(0) + "," + address(nodes - 1);
}

std::string local_cluster::address(std::size_t index) const {
  return "127.0.0.1:" + std::to_string(node(index).port());
}

std::string local_cluster::ask(std::size_t index, std::vector<std::string> command) const {
  const auto login = setup_.password.empty() ? "" : setup_.password + "@";
  const auto server = connected("redis+unix://" + login + node(index).socket().string());
  const auto reply = test::ask(*server, std::move(command));
  REQUIRE_MESSAGE(is_ok(reply), reply.problem);
  return text_of(reply.value);
}

std::string local_cluster::id_of(std::size_t index) const {
  return ask(index, {"CLUSTER", "MYID"});
}

template <class Condition>
void local_cluster::wait_until(const std::string& what, Condition condition) const {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition())
    REQUIRE_MESSAGE(std::chrono::steady_clock::now() < limit, "waited in vain: " << what);
}

// WAIT would count for the connection that wrote alone.
void local_cluster::wait_for_replica(std::size_t master) const {
  const auto offset_in = [this](std::size_t index, const std::string& name) {
    const auto info = ask(index, {"INFO", "replication"});
    const auto at = info.find("\n" + name + ":");
    return at == std::string::npos ? 0ULL : std::stoull(info.substr(at + name.size() + 2));
  };
  const auto whole = offset_in(master, "master_repl_offset");
  REQUIRE(whole > 0);
  wait_until("the replica has all",
             [&] { return offset_in(master + masters, "slave_repl_offset") >= whole; });
}

std::size_t local_cluster::leader_of(std::uint16_t slot, std::size_t asked) const {
  const auto login = setup_.password.empty() ? "" : setup_.password + "@";
  const auto server = connected("redis+unix://" + login + node(asked).socket().string());
  const auto ranges = storage::slot_ranges_in(test::ask(*server, {"CLUSTER", "SLOTS"}).value);
  REQUIRE(ranges);
  for (const auto& range : *ranges)
    for (std::size_t i = 0; i < nodes; ++i)
      if (range.first <= slot && slot <= range.last && range.leader.port == node(i).port())
        return i;
  return nodes;
}

void local_cluster::wait_for_new_leader(std::uint16_t slot, std::size_t former,
                                        std::size_t asked) const {
  wait_until("a new leader", [&] {
    const auto now = leader_of(slot, asked);
    return now != former && now != nodes;
  });
  wait_until("the cluster is well", [&] {
    return ask(asked, {"CLUSTER", "INFO"}).find("cluster_state:ok") != std::string::npos;
  });
}

void local_cluster::move_slot(std::uint16_t slot, std::size_t from, std::size_t to) const {
  const auto number = std::to_string(slot);
  ask(to, {"CLUSTER", "SETSLOT", number, "IMPORTING", id_of(from)});
  ask(from, {"CLUSTER", "SETSLOT", number, "MIGRATING", id_of(to)});
  const auto server = connected(node(from).url());
  for (;;) {
    const auto names = test::ask(*server, {"CLUSTER", "GETKEYSINSLOT", number, "10"});
    REQUIRE(is_ok(names));
    if (names.value.items.empty()) break;
    for (const auto& name : names.value.items)
      REQUIRE(is_ok(test::ask(*server, {"MIGRATE", "127.0.0.1", std::to_string(node(to).port()),
                                        name.text, "0", "5000"})));
  }
  for (const auto index : {to, from})
    ask(index, {"CLUSTER", "SETSLOT", number, "NODE", id_of(to)});
}

} // namespace hearth::test
