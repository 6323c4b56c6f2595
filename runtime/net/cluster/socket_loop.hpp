// The router's loop over sockets: that of the connections' thread.
#pragma once

#include "runtime/net/cluster/cluster_loop.hpp"
#include "runtime/net/redis_lane.hpp"

#include <functional>
#include <memory>

#include <boost/asio/steady_timer.hpp>

namespace hearth::net {

class socket_loop final : public cluster_loop {
public:
  /// `settings`: the TLS context, the resolver, the credentials and bounds for all nodes, and the
  /// loop.
  explicit socket_loop(std::shared_ptr<lane_context> settings);

  time_point now() const override { return remote_command::clock::now(); }
  void wake_at(time_point when, std::function<void()> wake) override;
  void post(std::function<void()> task) override;
  void stop() override { timer_.cancel(); }
  std::unique_ptr<command_router> connect(const storage::cluster_address& address) override;

private:
  std::shared_ptr<lane_context> settings_;
  boost::asio::steady_timer timer_;
};

} // namespace hearth::net
