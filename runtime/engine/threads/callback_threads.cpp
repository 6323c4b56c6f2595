#include "runtime/engine/threads/callback_threads.hpp"

#include "runtime/api/blocking_region.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace hearth::engine {

struct callback_threads::state final : std::enable_shared_from_this<state>, blocking_observer {
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<task> queue;
  std::vector<std::thread> threads;
  unsigned max = 1;
  unsigned idle = 0;
  unsigned working = 0; // without those that wait for an answer of Hearth
  bool stopped = false;

  void start_threads();
  void work();

  // A callback that waits for an answer lends its slot to another.
  void wait_begins() override;
  void wait_ends() override;
};

namespace {

// The run of one task on a thread; the destructor ends it, also when the task throws.
class turn {
public:
  explicit turn(callback_threads::state& in)
      : in_(in) {
    --in_.idle;
    ++in_.working;
    in_.mutex.unlock();
  }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;
  ~turn() {
    in_.mutex.lock();
    --in_.working;
    ++in_.idle;
    in_.changed.notify_one();
  }

private:
  callback_threads::state& in_;
};

} // namespace

// Starts a thread for each task that may begin and has none. Called with the lock held.
void callback_threads::state::start_threads() {
  const auto allowed = max > working ? max - working : 0;
  const auto wanted = std::min<std::size_t>(allowed, queue.size());
  for (std::size_t ready = idle; ready < wanted; ++ready) {
    ++idle;
    threads.emplace_back([self = shared_from_this()] { self->work(); });
  }
}

void callback_threads::state::work() {
  set_blocking_observer(this);
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return stopped || (!queue.empty() && working < max); });
    if (stopped) return;
    auto next = std::move(queue.front());
    queue.pop_front();
    const turn mine(*this); // releases the lock while the task runs
    next();
    next = nullptr;
  }
}

callback_threads::callback_threads(unsigned max)
    : state_(std::make_shared<state>()) {
  state_->max = std::max(1u, max);
}

void callback_threads::run(task one) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->stopped) return;
    state_->queue.push_back(std::move(one));
    state_->start_threads();
  }
  state_->changed.notify_one();
}

void callback_threads::refuse() {
  std::deque<task> dropped; // destroyed without the lock
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopped = true;
    dropped.swap(state_->queue);
  }
  state_->changed.notify_all();
}

void callback_threads::stop() {
  refuse();
  std::vector<std::thread> ended;
  {
    const std::lock_guard lock(state_->mutex);
    ended.swap(state_->threads);
  }
  for (auto& thread : ended) {
    if (thread.get_id() == std::this_thread::get_id())
      thread.detach(); // a callback shuts the runtime down: its thread ends after it
    else
      thread.join();
  }
}

void callback_threads::state::wait_begins() {
  const std::lock_guard lock(mutex);
  --working;
  start_threads();
  changed.notify_one();
}

void callback_threads::state::wait_ends() {
  const std::lock_guard lock(mutex);
  ++working;
}

} // namespace hearth::engine
