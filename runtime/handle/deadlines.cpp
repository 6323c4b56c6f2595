#include "runtime/handle/deadlines.hpp"

#include <algorithm>
#include <utility>

namespace hearth {
namespace {

constexpr auto later = [](const auto& a, const auto& b) { return a.when > b.when; };

} // namespace

void deadlines::add_entry(entry one) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    if (entries_.size() >= forget_at_) forget_answered();
    entries_.push_back(std::move(one));
    std::push_heap(entries_.begin(), entries_.end(), later);
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  }
  changed_.notify_one();
}

// What was answered before its deadline is nobody's any more.
void deadlines::forget_answered() {
  std::erase_if(entries_, [](const auto& one) { return one.request.expired(); });
  std::make_heap(entries_.begin(), entries_.end(), later);
  forget_at_ = std::max<std::size_t>(1024, 2 * entries_.size());
}

void deadlines::run() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    if (entries_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto when = entries_.front().when;
    if (std::chrono::steady_clock::now() < when) {
      changed_.wait_until(lock, when);
      continue;
    }
    std::pop_heap(entries_.begin(), entries_.end(), later);
    const auto due = std::move(entries_.back());
    entries_.pop_back();
    lock.unlock();
    if (const auto living = due.request.lock()) due.expire(living);
    lock.lock();
  }
}

void deadlines::stop() {
  std::thread ended;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    entries_.clear();
    ended = std::exchange(thread_, {});
  }
  changed_.notify_one();
  if (!ended.joinable()) return;
  if (ended.get_id() == std::this_thread::get_id())
    ended.detach(); // a callback on this very thread lets go of the runtime: `run` ends after it
  else
    ended.join();
}

} // namespace hearth
