#include "runtime/engine/threads/deadlines.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace hearth::engine {

struct deadlines::state {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<entry> entries; // a heap, the earliest first
  std::size_t forget_at = 1024;
  bool stopped = false;
  std::thread thread;

  std::vector<entry> take_answered();
  void run();
};

namespace {

constexpr auto later = [](const auto& a, const auto& b) { return a.when > b.when; };

} // namespace

// Removes the requests that were answered before their deadline; the caller destroys them without
// the lock. Called with the lock held.
std::vector<deadlines::entry> deadlines::state::take_answered() {
  const auto answered = std::partition(entries.begin(), entries.end(),
                                       [](const auto& one) { return !one.request.expired(); });
  std::vector<entry> taken(std::make_move_iterator(answered),
                           std::make_move_iterator(entries.end()));
  entries.erase(answered, entries.end());
  std::make_heap(entries.begin(), entries.end(), later);
  forget_at = std::max<std::size_t>(1024, 2 * entries.size());
  return taken;
}

void deadlines::state::run() {
  std::unique_lock lock(mutex);
  while (!stopped) {
    if (entries.empty()) {
      changed.wait(lock);
      continue;
    }
    const auto when = entries.front().when;
    if (std::chrono::steady_clock::now() < when) {
      changed.wait_until(lock, when);
      continue;
    }
    std::pop_heap(entries.begin(), entries.end(), later);
    auto due = std::move(entries.back());
    entries.pop_back();
    lock.unlock();
    if (const auto living = due.request.lock()) due.expire(living);
    due = {}; // destroyed without the lock, too
    lock.lock();
  }
}

deadlines::deadlines()
    : state_(std::make_shared<state>()) {}

void deadlines::add_entry(entry one) {
  std::vector<entry> answered;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->stopped) return;
    auto& entries = state_->entries;
    if (entries.size() >= state_->forget_at) answered = state_->take_answered();
    entries.push_back(std::move(one));
    std::push_heap(entries.begin(), entries.end(), later);
    if (!state_->thread.joinable())
      state_->thread = std::thread([shared = state_] { shared->run(); });
  }
  state_->changed.notify_one();
}

void deadlines::stop() {
  std::vector<entry> forgotten; // destroyed without the lock
  std::thread ended;
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopped = true;
    forgotten.swap(state_->entries);
    ended = std::exchange(state_->thread, {});
  }
  state_->changed.notify_one();
  if (!ended.joinable()) return;
  if (ended.get_id() == std::this_thread::get_id())
    ended.detach(); // a callback on this thread destroys the runtime: `run` ends after it
  else
    ended.join();
}

} // namespace hearth::engine
