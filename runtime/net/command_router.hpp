// Where commands go: to the one server that there is, or to that node of a cluster which has the
// name. Lives on the connections' thread.
#pragma once

#include "runtime/net/connection_problem.hpp"
#include "runtime/net/remote_command.hpp"

namespace hearth::net {

class command_router {
public:
  using time_point = remote_command::clock::time_point;

  virtual ~command_router() = default;

  /// Takes a command, which is answered exactly once; `flush` sends what was taken.
  virtual void add(actors::remote_client::lane by, remote_command command, time_point now) = 0;
  virtual void flush() = 0;
  /// As `remote_client::hurry`.
  virtual void hurry(bool /*on*/) {}
  /// Fails all commands with `why`, and ends the connections.
  virtual void fail_all(const connection_problem& why) = 0;
  /// The same, for ever: every later command fails too.
  virtual void close(const connection_problem& why) = 0;
};

} // namespace hearth::net
