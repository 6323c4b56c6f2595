#include "actors/thread_unit.hpp"

#include <caf/resumable.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

namespace hearth::actors {
namespace {

using clock = std::chrono::steady_clock;

// Messages that one actor handles before the next actor runs.
constexpr std::size_t max_messages = 128;

thread_local thread_unit* unit_of_this_thread = nullptr;

} // namespace

thread_unit::thread_unit(caf::actor_system& system, std::chrono::nanoseconds turn)
    : caf::execution_unit(&system)
    , turn_(turn) {
  system.thread_started();
  unit_of_this_thread = this;
}

thread_unit::~thread_unit() {
  leave_to_workers();
  unit_of_this_thread = nullptr;
  system().thread_terminates();
}

thread_unit* thread_unit::of_this_thread() noexcept { return unit_of_this_thread; }

thread_unit* thread_unit::of_this_thread(const caf::actor_system& system) noexcept {
  auto* const unit = of_this_thread();
  return unit && &unit->system() == &system ? unit : nullptr;
}

void thread_unit::run() {
  if (woken_.empty()) return;
  const auto end = clock::now() + turn_;
  do {
    auto* const actor = woken_.front();
    woken_.pop_front();
    resume(actor);
  } while (!woken_.empty() && clock::now() < end);
  leave_to_workers();
}

void thread_unit::resume(caf::resumable* actor) {
  if (actor->resume(this, max_messages) == caf::resumable::resume_later)
    woken_.push_back(actor);
  else
    caf::intrusive_ptr_release(actor);
}

void thread_unit::leave_to_workers() {
  for (; !woken_.empty(); woken_.pop_front())
    system().scheduler().enqueue(woken_.front());
}

} // namespace hearth::actors
