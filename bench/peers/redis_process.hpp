// A redis-server of the benchmark's own, on a Unix socket in the run's directory, and
// redis-benchmark against it. Owned by one row; ended with it, and when this program dies.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

namespace hearth::bench {

class redis_process {
public:
  /// Throws `std::runtime_error` when it cannot be started: it is not installed, say.
  explicit redis_process(const std::filesystem::path& directory);
  redis_process(const redis_process&) = delete;
  redis_process& operator=(const redis_process&) = delete;
  ~redis_process();

  std::filesystem::path socket() const { return directory_ / "redis.sock"; }
  std::string url() const { return "redis+unix://" + socket().string(); }
  /// Stops it where it stands, or lets it go on: stopped it takes connections and never answers.
  void freeze(bool stopped) const;

  /// Sets `names` names, as redis-benchmark writes them ("k000000000017"), to so many random bytes.
  void fill(std::size_t names, std::size_t value_bytes) const;

  /// Seconds that redis-benchmark needs for one of `requests` commands, over one connection,
  /// `depth` at a time. `__rand_int__` in the command becomes a number below `names`, in 12 digits.
  double seconds_an_operation(std::size_t requests, std::size_t depth, std::size_t names,
                              const std::vector<std::string>& command) const;

private:
  std::filesystem::path directory_;
  pid_t pid_ = -1;
  int log_ = -1; // kept open: the server writes there
};

} // namespace hearth::bench
