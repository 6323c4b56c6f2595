// Where commands go: to the one server that there is, or to that node of a cluster which has the
// name. Lives on the connections' thread.
#pragma once

#include "runtime/net/redis_lane.hpp"

#include <array>
#include <memory>
#include <utility>

namespace hearth::net {

class command_router {
public:
  using time_point = remote_command::clock::time_point;

  virtual ~command_router() = default;

  /// Takes a command, which is answered exactly once; `flush` sends what was taken.
  virtual void add(actors::remote_client::lane by, remote_command command, time_point now) = 0;
  virtual void flush() = 0;
  /// Fails all commands with `why`, and ends the connections.
  virtual void fail_all(const connection_problem& why) = 0;
  /// The same, for ever: every later command fails too.
  virtual void close(const connection_problem& why) = 0;
};

/// The lanes of one server.
class server_lanes final : public command_router {
public:
  explicit server_lanes(const std::shared_ptr<lane_context>& context)
      : lanes_{redis_lane(context), redis_lane(context), redis_lane(context)} {}

  void add(actors::remote_client::lane by, remote_command command, time_point now) override {
    lanes_[static_cast<std::size_t>(by)].add(std::move(command), now);
  }
  void flush() override {
    for (auto& lane : lanes_)
      lane.flush();
  }
  void fail_all(const connection_problem& why) override {
    for (auto& lane : lanes_)
      lane.fail_all(why);
  }
  void close(const connection_problem& why) override {
    for (auto& lane : lanes_)
      lane.close(why);
  }

private:
  std::array<redis_lane, actors::remote_client::lanes> lanes_;
};

} // namespace hearth::net
