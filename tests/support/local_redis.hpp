// A real redis-server for a test: started on a Unix socket and, on request, on a free port of this
// machine, with TLS or without. It ends with the object, and with the test in every case, and keeps
// nothing on disk. When the program is missing the test fails and says so.
#pragma once

#include "runtime/os/files/descriptor.hpp"
#include "tests/support/claimed_port.hpp"
#include "tests/support/temporary_directory.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace hearth::test {

struct redis_setup {
  bool tcp = false;                     ///< on a free port of 127.0.0.1 and ::1
  bool tls = false;                     ///< on a free port; needs the files below
  std::filesystem::path certificate{};  ///< of the server
  std::filesystem::path key{};          ///< of the server
  std::filesystem::path ca{};           ///< the authority of accepted clients
  bool ask_clients = false;             ///< clients must present a certificate
  std::string password{};               ///< of the default user
  bool is_sentinel = false;             ///< watches other servers, and serves nothing
  std::vector<std::string> arguments{}; ///< further ones: "--maxmemory", "1mb"
};

class local_redis {
public:
  explicit local_redis(redis_setup setup = {});
  local_redis(const local_redis&) = delete;
  local_redis& operator=(const local_redis&) = delete;
  ~local_redis();

  std::filesystem::path socket() const { return directory_ / "redis.sock"; }
  std::uint16_t port() const { return port_ ? port_->number() : 0; } ///< 0 without `tcp`
  /// 0 without `tls`.
  std::uint16_t tls_port() const { return tls_port_ ? tls_port_->number() : 0; }
  /// "redis+unix:///tmp/.../redis.sock"
  std::string url() const { return "redis+unix://" + socket().string(); }
  pid_t pid() const { return pid_; }
  /// Runs a script in the server (EVAL, without keys) that returns a number; only without a
  /// password.
  std::int64_t eval(const std::string& script) const;

  /// Ends the server at once, like a crash; `start` starts it again, empty, at the same addresses.
  void kill();
  void start();
  /// Stops the process, so that it accepts and never answers; and continues it.
  void freeze();
  void thaw();

private:
  bool try_start();
  std::vector<std::string> command_line() const;
  std::vector<std::string> sentinel_line() const;
  std::vector<std::string> server_line() const;

  redis_setup setup_;
  temporary_directory directory_;
  std::optional<claimed_port> port_;
  std::optional<claimed_port> tls_port_;
  pid_t pid_ = -1;
  os::descriptor output_; // kept open: the server writes its log there
};

} // namespace hearth::test
