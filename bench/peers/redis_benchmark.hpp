// redis-benchmark against a server of the Redis protocol. For a row's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hearth::bench {

struct redis_load {
  std::filesystem::path socket; ///< the server's Unix socket
  std::size_t requests;
  std::size_t depth; ///< requests in flight on one connection
  std::size_t names; ///< `__rand_int__` becomes a number below this, in 12 digits
  std::size_t connections = 1;
  std::size_t value_bytes = 0;    ///< for `-t set`; 0: the default
  std::uint16_t cluster_port = 0; ///< of a node of a cluster on this machine, instead of `socket`
};

/// Seconds that one command takes. `command`: the words of a command, or `-t get` and the like.
/// Throws `std::runtime_error` when it fails.
double redis_benchmark(const redis_load& load, const std::vector<std::string>& command);

} // namespace hearth::bench
