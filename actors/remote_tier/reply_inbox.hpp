// Holds the replies of a remote server for the remote tier's actor. One message announces all
// replies since the actor last took them. Any thread adds replies; the actor takes them.
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
  /// A reply, the number of its exchange, and the index of its command in that exchange.
  struct item {
    std::uint64_t exchange;
    std::size_t which;
    remote_reply reply;
  };

  /// Returns whether the actor has to be told: the inbox was empty before.
  bool put(item one) {
    const std::lock_guard lock(mutex_);
    items_.push_back(std::move(one));
    return items_.size() == 1;
  }
  /// Moves all replies to `into`, which is empty; its capacity is reused for the next replies.
  void take(std::vector<item>& into) {
    const std::lock_guard lock(mutex_);
    items_.swap(into);
  }

private:
  std::mutex mutex_;
  std::vector<item> items_;
};

} // namespace hearth::actors
