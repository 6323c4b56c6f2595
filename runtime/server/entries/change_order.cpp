#include "runtime/server/entries/change_order.hpp"

#include <utility>
#include <vector>

namespace hearth::server {

bool change_order::may_run(const place& at, bool alone) {
  return alone ? at.running == 0 : !at.is_alone;
}

change_order::turn change_order::make_turn(place& at) {
  return {nullptr, [self = shared_from_this(), &at](void*) { self->end(at); }};
}

void change_order::enter(std::uint64_t key_hash, bool alone, task change) {
  auto& at = places_[key_hash % places_.size()];
  {
    const std::lock_guard lock(at.mutex);
    if (!at.queue.empty() || !may_run(at, alone)) {
      at.queue.push_back({alone, std::move(change)});
      return;
    }
    ++at.running;
    at.is_alone = alone;
  }
  change(make_turn(at));
}

void change_order::end(place& at) {
  std::vector<task> next;
  {
    const std::lock_guard lock(at.mutex);
    --at.running;
    at.is_alone = false;
    while (!at.queue.empty() && may_run(at, at.queue.front().alone)) {
      ++at.running;
      at.is_alone = at.queue.front().alone;
      next.push_back(std::move(at.queue.front().change));
      at.queue.pop_front();
    }
  }
  for (auto& change : next)
    run_next(
        [change = std::move(change), turn = make_turn(at)]() mutable { change(std::move(turn)); });
}

// A change that ends at once begins the next one: that runs when this one has returned, so that a
// long queue does not nest.
void change_order::run_next(std::function<void()> change) {
  thread_local std::deque<std::function<void()>>* waiting = nullptr;
  if (waiting) return waiting->push_back(std::move(change));
  std::deque<std::function<void()>> all;
  waiting = &all;
  all.push_back(std::move(change));
  while (!all.empty()) {
    auto first = std::move(all.front());
    all.pop_front();
    first();
  }
  waiting = nullptr;
}

} // namespace hearth::server
