// The order of changes of one key among the clients of a server: a change that depends on what is
// there (SET NX, EXPIRE, GETDEL) runs alone, all others run side by side. Any thread; nobody
// blocks: a change that has to wait is run by the one that it waits for.
//
// Keys share a fixed number of places, so that two keys may wait for each other needlessly. A
// change must not begin another one before it ends.
#pragma once

#include "runtime/server/entries/store_watch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace hearth::server {

class change_order : public std::enable_shared_from_this<change_order> {
public:
  /// Held while a change runs; its last copy ends the change.
  using turn = std::shared_ptr<void>;
  using task = std::function<void(turn)>;

  /// Runs `change` beside all others that are not alone.
  void begin(std::uint64_t key_hash, task change) { enter(key_hash, false, std::move(change)); }
  /// Runs `change` when every earlier change of its place has ended, and nothing beside it.
  void begin_alone(std::uint64_t key_hash, task change) {
    enter(key_hash, true, std::move(change));
  }

  /// Who waits for a key of these clients to be stored.
  store_watch& stores() noexcept { return *stores_; }

private:
  struct waiting {
    bool alone;
    task change;
  };
  struct place {
    std::mutex mutex;
    std::uint32_t running = 0;
    bool is_alone = false; // the one that runs
    std::deque<waiting> queue;
  };

  void enter(std::uint64_t key_hash, bool alone, task change);
  void end(place& at);
  turn make_turn(place& at);
  static void run_next(std::function<void()> change);
  static bool may_run(const place& at, bool alone);

  std::array<place, 1024> places_;
  const std::shared_ptr<store_watch> stores_ = std::make_shared<store_watch>();
};

} // namespace hearth::server
