// A private Redis Cluster of three masters on free ports of this machine, and redis-benchmark
// against it. Owned by one row; it ends with the row, and when this program dies.
#pragma once

#include "bench/peers/peer_program.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hearth::bench {

class redis_cluster {
public:
  static constexpr std::size_t masters = 3;

  /// Throws `std::runtime_error` when it cannot be started.
  explicit redis_cluster(const std::filesystem::path& directory);
  redis_cluster(const redis_cluster&) = delete;
  redis_cluster& operator=(const redis_cluster&) = delete;
  ~redis_cluster();

  std::string url() const;

  /// Sets a value of `value_bytes` in every slot, for `seconds_a_get`.
  void fill(std::size_t value_bytes) const;
  /// Seconds that redis-benchmark needs for one of `requests` gets, over one connection to each
  /// master, `depth` in flight in all.
  double seconds_a_get(std::size_t requests, std::size_t depth) const;

private:
  struct node {
    std::uint16_t port;
    peer_program running;
    std::filesystem::path directory;
  };
  void start_node(const std::filesystem::path& directory);
  void join();
  void end();

  std::vector<node> nodes_;
};

} // namespace hearth::bench
