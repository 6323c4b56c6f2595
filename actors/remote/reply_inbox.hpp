// Where the replies of a remote server wait for the remote tier's actor: one message tells it of
// all that came since it looked last. Any thread puts in, the actor takes out.
#pragma once

#include "actors/remote_server.hpp"

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace hearth::actors {

class reply_inbox {
public:
  /// A reply and the number of its command.
  using item = std::pair<std::uint64_t, remote_reply>;

  /// Whether the actor has to be told: it took everything out, and nothing came since.
  bool put(std::uint64_t command, remote_reply reply) {
    const std::lock_guard lock(mutex_);
    items_.emplace_back(command, std::move(reply));
    return items_.size() == 1;
  }
  std::vector<item> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(items_, {});
  }

private:
  std::mutex mutex_;
  std::vector<item> items_;
};

} // namespace hearth::actors
