// A private redis-server on a Unix socket in the run's directory, and redis-benchmark against it.
// Owned by one row; it ends with the row, and when this program dies.
#pragma once

#include "bench/peers/peer_program.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace hearth::bench {

class redis_process {
public:
  /// Throws `std::runtime_error` when it cannot be started, for example when it is not installed.
  explicit redis_process(const std::filesystem::path& directory);
  redis_process(const redis_process&) = delete;
  redis_process& operator=(const redis_process&) = delete;
  ~redis_process();

  std::filesystem::path socket() const { return directory_ / "redis.sock"; }
  std::string url() const { return "redis+unix://" + socket().string(); }
  /// Stops the server's process, or continues it: a stopped server accepts connections and never
  /// answers.
  void freeze(bool stopped) const;

  /// Sets `names` names, in redis-benchmark's form ("k000000000017"), to `value_bytes` random
  /// bytes.
  void fill(std::size_t names, std::size_t value_bytes) const;

  /// Seconds that redis-benchmark needs for one of `requests` commands, over one connection,
  /// `depth` at a time. `__rand_int__` in the command becomes a number below `names`, in 12 digits.
  double seconds_an_operation(std::size_t requests, std::size_t depth, std::size_t names,
                              const std::vector<std::string>& command) const;

private:
  std::filesystem::path directory_;
  peer_program running_{}; // its output stays open: the server writes to it
};

} // namespace hearth::bench
