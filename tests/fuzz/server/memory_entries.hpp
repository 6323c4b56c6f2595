// What lies behind the sessions of a server, for fuzzing without actors: entries in a map, a clock
// that stands still, users without slow hashes. An answer is ready at once, or comes when the run
// delivers it, in an order that the run chooses.
//
// memory_entries.cpp has the functions of `entry_space`, `authenticator` and the clock; the targets
// are linked with it in place of their own sources.
#pragma once

#include "messages/artifact.hpp"
#include "messages/completion.hpp"
#include "messages/replies.hpp"
#include "runtime/api/future.hpp"
#include "runtime/server/access/identity.hpp"
#include "runtime/server/entries/entry_space.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace hearth::fuzz {

class memory_entries {
public:
  /// Empty ones, which all entry spaces use from now on.
  static memory_entries& begin(bool answers_late);
  static memory_entries& current();
  static server::entry_space open(const server::identity& who, unsigned database);

  /// An answer that is ready, or owed.
  template <class T>
  future<T> answer(expected<T> result) {
    if (!answers_late_) return future<T>(std::move(result));
    auto state = std::make_shared<completion_state<T>>();
    call([to = completion<T>(state), kept = std::make_shared<expected<T>>(std::move(result))] {
      to.deliver(std::move(*kept));
    });
    return future<T>(std::move(state));
  }
  /// Calls `task` now, or owes it.
  void call(std::function<void()> task);

  std::size_t owed() const noexcept { return owed_.size(); }
  /// Gives the answer that is at this place among those that are owed.
  void deliver(std::size_t place);

  using entry_name = std::pair<std::string, std::string>; // cache, key
  std::map<entry_name, artifact> entries;
  std::map<entry_name, lease_id> leases;
  lease_id last_lease = 0;

private:
  bool answers_late_ = false;
  std::deque<std::function<void()>> owed_;
};

} // namespace hearth::fuzz
