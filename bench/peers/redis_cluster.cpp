#include "bench/peers/redis_cluster.hpp"

#include "bench/peers/free_port.hpp"
#include "bench/peers/redis_benchmark.hpp"
#include "runtime/net/redis_client.hpp"
#include "storage/resp/cluster_slots.hpp"

#include <chrono>
#include <fmt/format.h>
#include <future>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace hearth::bench {
namespace {

constexpr std::chrono::seconds patience{60};

// The reply's text.
std::string ask(std::uint16_t port, std::vector<std::string> command) {
  using actors::remote_reply;
  const auto server =
      net::connect_redis(*net::parse_remote_url(fmt::format("redis://127.0.0.1:{}", port)));
  if (!server) throw std::runtime_error(server.error().text());
  const auto answer = std::make_shared<std::promise<remote_reply>>();
  (*server)->send(actors::remote_client::lane::reads, std::move(command), patience,
                  [answer](remote_reply reply) { answer->set_value(std::move(reply)); });
  auto reply = answer->get_future().get();
  if (!reply.problem.empty()) throw std::runtime_error(reply.problem);
  return reply.value.text;
}

} // namespace

redis_cluster::redis_cluster(const std::filesystem::path& directory) {
  try {
    for (std::size_t i = 0; i < masters; ++i)
      start_node(std::filesystem::absolute(directory) / fmt::format("node{}", i));
    join();
  } catch (...) {
    end();
    throw;
  }
}

redis_cluster::~redis_cluster() { end(); }

void redis_cluster::end() {
  for (const auto& one : nodes_) {
    end_peer(one.running);
    std::filesystem::remove_all(one.directory); // a later cluster must not find what it knew
  }
  nodes_.clear();
}

void redis_cluster::start_node(const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  const auto port = free_port();
  const auto running = start_peer({"redis-server",
                                   "--port",
                                   std::to_string(port),
                                   "--bind",
                                   "127.0.0.1",
                                   "--cluster-enabled",
                                   "yes",
                                   "--cluster-config-file",
                                   "nodes.conf",
                                   "--cluster-port",
                                   std::to_string(free_port()),
                                   "--save",
                                   "",
                                   "--appendonly",
                                   "no",
                                   "--dir",
                                   directory,
                                   "--daemonize",
                                   "no",
                                   "--logfile",
                                   ""});
  nodes_.push_back({port, running, directory});
  constexpr std::string_view ready = "Ready to accept connections";
  if (read_until(running.output, ready).find(ready) == std::string::npos)
    throw std::runtime_error("redis-server cannot be started: install the package redis-server");
}

void redis_cluster::join() {
  for (std::size_t i = 0; i < masters; ++i) {
    const auto first = i * storage::cluster_slots / masters;
    const auto last = (i + 1) * storage::cluster_slots / masters - 1;
    ask(nodes_[i].port, {"CLUSTER", "ADDSLOTSRANGE", std::to_string(first), std::to_string(last)});
    ask(nodes_[i].port, {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
  }
  for (std::size_t i = 1; i < masters; ++i) {
    const auto bus = ask(nodes_[i].port, {"CLUSTER", "NODES"}); // "ID HOST:PORT@BUS myself,..."
    const auto at = bus.find('@') + 1;
    ask(nodes_[0].port, {"CLUSTER", "MEET", "127.0.0.1", std::to_string(nodes_[i].port),
                         bus.substr(at, bus.find_first_of(" ,", at) - at)});
  }
  const auto limit = std::chrono::steady_clock::now() + patience;
  for (const auto& one : nodes_)
    while (ask(one.port, {"CLUSTER", "INFO"}).find("cluster_state:ok") == std::string::npos)
      if (std::chrono::steady_clock::now() > limit)
        throw std::runtime_error("the cluster's nodes do not find each other");
}

std::string redis_cluster::url() const {
  return fmt::format("redis+cluster://127.0.0.1:{}", nodes_.front().port);
}

void redis_cluster::fill(std::size_t value_bytes) const {
  redis_load load;
  load.cluster_port = nodes_.front().port;
  load.requests = 2 * storage::cluster_slots; // redis-benchmark takes one slot after the other
  load.depth = 16;
  load.names = 1;
  load.connections = masters;
  load.value_bytes = value_bytes;
  redis_benchmark(load, {"-t", "set"});
}

double redis_cluster::seconds_a_get(std::size_t requests, std::size_t depth) const {
  // With threads, as here, it notices its end at a multiple of 250 ms.
  constexpr std::size_t times_longer = 10;
  redis_load load;
  load.cluster_port = nodes_.front().port;
  load.requests = times_longer * requests;
  load.depth = depth / masters;
  load.names = 1;
  load.connections = masters;
  return redis_benchmark(load, {"-t", "get"});
}

} // namespace hearth::bench
