// Lets a thread outside CAF's thread pool run the actors that it wakes, as a CAF worker does. What
// follows from a message then runs on this thread, without waking another one.
#pragma once

#include <caf/actor_system.hpp>
#include <caf/execution_unit.hpp>
#include <caf/send.hpp>

#include <chrono>
#include <deque>
#include <utility>

namespace hearth::actors {

/// One thread's, which makes it, calls `run` whenever it has woken actors, and ends it.
class thread_unit final : public caf::execution_unit {
public:
  /// Of actors of `system`, which outlives this. `turn`: how long the thread is given to actors at
  /// a time; the one that runs then is not interrupted.
  explicit thread_unit(caf::actor_system& system,
                       std::chrono::nanoseconds turn = std::chrono::milliseconds(1));
  thread_unit(const thread_unit&) = delete;
  thread_unit& operator=(const thread_unit&) = delete;
  /// Leaves what it has not run to the system's workers.
  ~thread_unit() override;

  /// Runs the actors that were woken, and those that they wake. Once its turn is over it leaves the
  /// rest to the workers, since this thread has other things to do.
  void run();

  /// Whether there are any to run.
  bool has_woken() const noexcept { return !woken_.empty(); }

  /// Leaves what has been woken to the workers. To be called before the thread waits for something.
  void leave_to_workers();

  /// For actors, and for `send_from_thread`.
  void exec_later(caf::resumable* actor) override { woken_.push_back(actor); }

  /// The calling thread's; null: it has none.
  static thread_unit* of_this_thread() noexcept;
  /// The same, null also when its actors are of another system.
  static thread_unit* of_this_thread(const caf::actor_system& system) noexcept;

private:
  void resume(caf::resumable* actor);

  const std::chrono::nanoseconds turn_;
  std::deque<caf::resumable*> woken_; // each with a reference to it
};

/// As `caf::anon_send`; an actor that it wakes is run by the calling thread's unit, if there is
/// one. Any thread.
template <class Handle, class... Message>
void send_from_thread(const Handle& to, Message&&... message) {
  if (!to) return;
  if (auto* const unit = thread_unit::of_this_thread(to->home_system()))
    to->eq_impl(caf::make_message_id(), nullptr, unit, std::forward<Message>(message)...);
  else
    caf::anon_send(to, std::forward<Message>(message)...);
}

} // namespace hearth::actors
