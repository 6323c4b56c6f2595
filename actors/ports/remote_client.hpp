// The interface through which the remote tier uses a RESP server: commands in, replies out. The
// runtime supplies connections to a real server; the simulator supplies its own.
#pragma once

#include "storage/resp/resp_value.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::actors {

/// Why a command has no usable reply.
enum class remote_failure : std::uint8_t {
  none,
  unreachable, ///< no connection: refused, no route, no such host or socket
  untrusted,   ///< TLS failed: the certificate is wrong, expired, of another host, or our own is
               ///< refused
  denied,      ///< the credentials are wrong, or this user may not run the command
  timeout,     ///< the deadline passed
  cut,         ///< the connection ended before the reply was complete
  garbage,     ///< the reply is not RESP, is above its limits, or is of the wrong type
  refused,     ///< the server is out of memory, loading, read only or busy
  closed,      ///< the client is shut down
  node,        ///< a node of the cluster does not serve its slots now; others serve theirs
};
inline constexpr std::size_t remote_failure_count = 10;
/// "unreachable", "untrusted", "denied", "timeout", "cut", "garbage", "refused", "closed", "node".
std::string_view to_string(remote_failure why) noexcept;

/// The outcome of a command. An error reply of the server is a failure too. `problem` is the text
/// of the server or of the connection, in one line without secrets.
struct remote_reply {
  remote_failure failure = remote_failure::none;
  std::string problem;
  storage::resp_value value;
};

class remote_client {
public:
  /// Commands of one lane are sent and answered in order. A lookup does not wait for queued writes,
  /// and neither for the command that waits until another host purges an entry.
  enum class lane : std::uint8_t { reads, writes, notices };
  static constexpr std::size_t lanes = 3;

  using command = std::vector<std::string>;
  using reply_callback = std::function<void(remote_reply)>;
  /// Receives the index, from 0, of a command among those sent together, and its reply.
  using replies_callback = std::function<void(std::size_t, remote_reply)>;

  virtual ~remote_client() = default;

  /// Sends commands; connects first if there is no connection. `answered` is called exactly once
  /// for each command, from any thread, possibly before `send` returns, with the reply or with the
  /// reason for having none. A command whose deadline passes closes its connection, so the other
  /// commands on that connection fail too. Does not block. Any thread.
  virtual void send_all(lane by, std::vector<command> commands, std::chrono::milliseconds deadline,
                        replies_callback answered) = 0;
  /// Sends one command.
  void send(lane by, command arguments, std::chrono::milliseconds deadline,
            reply_callback answered);

  /// While it is on, writes do not wait here for a node of a cluster that refuses them: they fail
  /// with `node`. A caller waits until nothing more can be sent. Any thread.
  virtual void hurry(bool /*on*/) {}

  /// Answers every waiting command and every later one with `closed`. Any thread.
  virtual void close() = 0;
};

} // namespace hearth::actors
