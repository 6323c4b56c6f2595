#include "runtime/net/cluster/socket_loop.hpp"

#include "runtime/net/server_lanes.hpp"

#include <utility>

#include <boost/asio/post.hpp>

namespace hearth::net {

socket_loop::socket_loop(std::shared_ptr<lane_context> settings)
    : settings_(std::move(settings))
    , timer_(*settings_->loop) {}

void socket_loop::wake_at(time_point when, std::function<void()> wake) {
  timer_.expires_at(when);
  timer_.async_wait([wake = std::move(wake)](const boost::system::error_code& cancelled) {
    if (!cancelled) wake();
  });
}

void socket_loop::post(std::function<void()> task) {
  boost::asio::post(*settings_->loop, std::move(task));
}

std::unique_ptr<command_router> socket_loop::connect(const storage::cluster_address& address) {
  auto context = std::make_shared<lane_context>(*settings_);
  context->endpoint.form = remote_form::server;
  context->endpoint.host = address.host;
  context->endpoint.port = address.port;
  return std::make_unique<server_lanes>(context);
}

} // namespace hearth::net
