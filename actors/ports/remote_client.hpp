// A server that speaks RESP, as the remote tier sees it: commands in, replies out. The runtime
// supplies connections to a real one, the simulator its own.
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

/// Why a command has no reply that can be used.
enum class remote_failure : std::uint8_t {
  none,
  unreachable, ///< no connection: refused, no route, no such host or socket
  untrusted,   ///< TLS failed: the certificate is wrong, expired, of another host, or not ours
  denied,      ///< the server wants other credentials, or allows the command to somebody else
  timeout,     ///< the deadline passed
  cut,         ///< the connection ended before the reply did
  garbage,     ///< what came is not RESP, is above its limits, or is of the wrong type
  refused,     ///< the server says it cannot now: out of memory, loading, read only, busy
  closed,      ///< we are shutting down
};
inline constexpr std::size_t remote_failure_count = 9;
/// "unreachable", "untrusted", "denied", "timeout", "cut", "garbage", "refused", "closed".
std::string_view to_string(remote_failure why) noexcept;

/// What became of a command. An error that the server replies is a failure too; `problem` is its
/// text, or the connection's, in one line without secrets.
struct remote_reply {
  remote_failure failure = remote_failure::none;
  std::string problem;
  storage::resp_value value;
};

class remote_client {
public:
  /// Commands of one lane are sent and answered in order. Two, so that nobody who waits for an
  /// answer stands behind what is written behind.
  enum class lane : std::uint8_t { reads, writes };

  using command = std::vector<std::string>;
  using reply_callback = std::function<void(remote_reply)>;
  /// Gets the place of the command among those that were sent together, from 0, and its reply.
  using replies_callback = std::function<void(std::size_t, remote_reply)>;

  virtual ~remote_client() = default;

  /// Sends commands, and connects first if there is no connection. `answered` is called exactly
  /// once for each, from any thread, also before this returns: with the reply, or with why there is
  /// none. A command whose deadline passes takes its connection with it, and so whatever else waits
  /// there. Does not block. Any thread.
  virtual void send_all(lane by, std::vector<command> commands, std::chrono::milliseconds deadline,
                        replies_callback answered) = 0;
  /// The same of one.
  void send(lane by, command arguments, std::chrono::milliseconds deadline,
            reply_callback answered);

  /// Answers all that waits with `closed`, and all that comes after. Any thread.
  virtual void close() = 0;
};

} // namespace hearth::actors
