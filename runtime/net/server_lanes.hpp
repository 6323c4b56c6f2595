// One server as the place where commands go. Lives on the connections' thread.
#pragma once

#include "runtime/net/command_router.hpp"
#include "runtime/net/redis_lane.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

namespace hearth::net {

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
