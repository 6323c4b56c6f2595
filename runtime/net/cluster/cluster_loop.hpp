// What a cluster's router runs on: its time, and the ways to nodes. The connections' thread
// supplies the real one, the simulator its own.
#pragma once

#include "runtime/net/command_router.hpp"
#include "storage/resp/cluster_slots.hpp"

#include <functional>
#include <memory>

namespace hearth::net {

class cluster_loop {
public:
  using time_point = command_router::time_point;

  virtual ~cluster_loop() = default;

  virtual time_point now() const = 0;
  /// Calls `wake` then, later and not from here; replaces what was asked for before.
  virtual void wake_at(time_point when, std::function<void()> wake) = 0;
  /// Calls `task` soon, and not from here.
  virtual void post(std::function<void()> task) = 0;
  /// Calls nothing that `wake_at` was asked for any more.
  virtual void stop() = 0;
  /// The way to a node. What it answers comes later, and not from inside of `add` and `flush`,
  /// unless it is closed.
  virtual std::unique_ptr<command_router> connect(const storage::cluster_address& address) = 0;
};

} // namespace hearth::net
