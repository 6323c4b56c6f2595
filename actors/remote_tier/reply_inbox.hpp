// Where the replies of a remote server wait for the remote tier's actor: one message tells it of
// all that came since it looked last. Any thread puts in, the actor takes out.
#pragma once

#include "actors/ports/remote_client.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace hearth::actors {

class reply_inbox {
public:
  /// A reply, the number of what was sent, and which command of it this is.
  struct item {
    std::uint64_t exchange;
    std::size_t which;
    remote_reply reply;
  };

  /// Whether the actor has to be told: it took everything out, and nothing came since.
  bool put(item one) {
    const std::lock_guard lock(mutex_);
    items_.push_back(std::move(one));
    return items_.size() == 1;
  }
  /// Moves all to `into`, which is empty; its room serves what comes next.
  void take(std::vector<item>& into) {
    const std::lock_guard lock(mutex_);
    items_.swap(into);
  }

private:
  std::mutex mutex_;
  std::vector<item> items_;
};

} // namespace hearth::actors
