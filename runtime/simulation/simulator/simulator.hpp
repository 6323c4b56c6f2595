// The whole runtime under random work and faults, from a seed: processes that share a store, their
// clients, kills, full disks, power losses; and the invariants that are checked. The same seed
// gives the same messages in the same order, on every machine.
//
// One thread; any number of simulations, one after the other.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace hearth::simulation {

struct simulation_options {
  unsigned hosts = 1;
  unsigned processes = 2; ///< number per host
  unsigned clients = 3;   ///< number per process
  std::chrono::seconds duration{60};
  /// Every world has a Redis Cluster; otherwise a third of them has a server.
  bool has_cluster = false;
  /// Every world has two servers, which every process uses one behind the other.
  bool has_farther = false;
  bool keep_trace = false;
  /// Otherwise there is no trace either, and a simulation takes three quarters of the time.
  bool hash_trace = true;
};

struct simulation_result {
  std::string violation; ///< empty: everything held
  std::vector<std::string> trace;
  std::uint64_t trace_hash = 0; ///< hash of every message and fault, in order, if asked for
  std::uint64_t messages = 0;
  std::uint64_t questions = 0; ///< requests of clients
};

simulation_result simulate(std::uint64_t seed, const simulation_options& options);

} // namespace hearth::simulation
