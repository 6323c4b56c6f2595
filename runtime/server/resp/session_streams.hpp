// What commands need to use the streams of their session's namespace. On the connection's thread.
#pragma once

#include "runtime/server/resp/resp_session.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace hearth::server {

/// The stream that this key names to the session's user.
inline stream_name stream_called(const resp_session& in, std::string key) {
  return {in.who()->name_space, in.database(), std::move(key)};
}

/// A callback for other threads that calls `next` on the session's connection, unless that is gone.
template <class T, class Next>
std::function<void(expected<T>)> on_connection(resp_session& in, Next next) {
  return [weak = in.host().weak_from_this(), next = std::move(next)](expected<T> answer) {
    const auto living = weak.lock();
    if (!living) return;
    living->post([next, kept = std::make_shared<expected<T>>(std::move(answer))] { next(*kept); });
  };
}

} // namespace hearth::server
