#include "actors/caller_unit.hpp"

#include <caf/scheduler/abstract_coordinator.hpp>
#include <caf/scoped_execution_unit.hpp>

#include <cerrno>
#include <pthread.h>

namespace hearth::actors {
namespace {

// Messages that an actor handles on its own thread before it goes to the end of the queue.
constexpr std::size_t max_messages_of_own = 128;
// Steps of one request; a change that met another process's takes a few more than an insert.
constexpr unsigned max_steps = 8;

thread_local caller_unit* caller_of_this_thread = nullptr;

// A thread that is cancelled in a call of the system would leave an actor half-way.
class no_cancellation {
public:
  no_cancellation() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  no_cancellation(const no_cancellation&) = delete;
  no_cancellation& operator=(const no_cancellation&) = delete;
  ~no_cancellation() { ::pthread_setcancelstate(before_, nullptr); }

private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

} // namespace

// --- own_thread --------------------------------------------------------------------------------

own_thread::own_thread(caf::actor_system& system)
    : system_(system)
    , shared_(std::make_shared<shared>())
    , thread_([&system, in = shared_] {
      run(system, in);
      system.dec_detached_threads();
    }) {
  // As for CAF's detached actors: the system's destructor waits for the thread, whose actor may
  // still be ending when those who waited for it have been told.
  system.inc_detached_threads();
}

own_thread::~own_thread() {
  shared_->add(nullptr);
  if (std::this_thread::get_id() == thread_.get_id())
    thread_.detach();
  else
    thread_.join();
}

void own_thread::shared::add(caf::resumable* actor) {
  {
    const std::lock_guard lock(mutex);
    woken.push_back(actor);
  }
  ::sem_post(&filled);
}

void own_thread::run(caf::actor_system& system, const std::shared_ptr<shared>& in) {
  for (;;) {
    while (::sem_wait(&in->filled) != 0 && errno == EINTR) {
    }
    std::unique_lock lock(in->mutex);
    auto* const actor = in->woken.front();
    in->woken.pop_front();
    lock.unlock();
    if (!actor) return;
    caf::scoped_execution_unit workers(&system);
    if (actor->resume(&workers, max_messages_of_own) == caf::resumable::resume_later)
      in->add(actor);
    else
      caf::intrusive_ptr_release(actor);
  }
}

// --- caller_unit -------------------------------------------------------------------------------

caller_unit::caller_unit(caf::actor_system& system)
    : caf::execution_unit(&system) {
  caller_of_this_thread = this;
}

caller_unit::~caller_unit() {
  caller_of_this_thread = nullptr;
  for (const auto& one : steps_)
    leave(one);
}

caller_unit* caller_unit::of_this_thread() noexcept { return caller_of_this_thread; }

caller_unit* caller_unit::of_this_thread(const caf::actor_system& system) noexcept {
  auto* const unit = of_this_thread();
  return unit && &unit->system() == &system ? unit : nullptr;
}

void caller_unit::exec_later(caf::resumable* actor) {
  if (!asked_) asked_ = actor;
  if (actor == asked_)
    steps_.push_back({actor, nullptr});
  else
    system().scheduler().enqueue(actor);
}

void caller_unit::run() {
  const no_cancellation whole;
  for (unsigned steps = 0; steps < max_steps && !steps_.empty(); ++steps) {
    const auto next = steps_.front();
    steps_.pop_front();
    const std::size_t messages = next.thread ? 2 : 1;
    if (next.actor->resume(this, messages) == caf::resumable::resume_later)
      leave(next);
    else
      caf::intrusive_ptr_release(next.actor);
  }
}

void caller_unit::leave(const step& one) {
  if (one.thread)
    one.thread->add(one.actor);
  else
    system().scheduler().enqueue(one.actor);
}

} // namespace hearth::actors
