// Lets a thread outside CAF's thread pool run the actors that it wakes, as a CAF worker does. The
// actors that a message wakes then run on this thread, and no other thread has to be woken.
#pragma once

#include "actors/caller_unit.hpp"

#include <caf/actor_system.hpp>
#include <caf/execution_unit.hpp>
#include <caf/send.hpp>

#include <chrono>
#include <deque>
#include <utility>

namespace hearth::actors {

/// Belongs to one thread. That thread constructs it, calls `run` whenever it has woken actors, and
/// destroys it.
class thread_unit final : public caf::execution_unit {
public:
  /// Runs actors of `system`, which must outlive it. `turn`: how long one call of `run` runs
  /// actors; the actor that runs when it ends is not interrupted.
  explicit thread_unit(caf::actor_system& system,
                       std::chrono::nanoseconds turn = std::chrono::milliseconds(1));
  thread_unit(const thread_unit&) = delete;
  thread_unit& operator=(const thread_unit&) = delete;
  /// Passes actors that have not run to the system's workers.
  ~thread_unit() override;

  /// Runs the woken actors and those that they wake. When the turn is over it passes the rest to
  /// the workers, since this thread has other work.
  void run();

  /// Whether there are woken actors.
  bool has_woken() const noexcept { return !woken_.empty(); }

  /// Passes the woken actors to the workers. The thread calls it before it waits.
  void leave_to_workers();

  /// For actors, and for `send_from_thread`.
  void exec_later(caf::resumable* actor) override { woken_.push_back(actor); }

  /// The calling thread's unit, or null.
  static thread_unit* of_this_thread() noexcept;
  /// As above; null also if the unit runs actors of another system.
  static thread_unit* of_this_thread(const caf::actor_system& system) noexcept;

private:
  void resume(caf::resumable* actor);

  const std::chrono::nanoseconds turn_;
  std::deque<caf::resumable*> woken_; // the unit holds a reference to each
};

/// As `caf::anon_send`, but the calling thread's unit or its call's, if there is one, runs the
/// actor that the message wakes. Any thread.
template <class Handle, class... Message>
void send_from_thread(const Handle& to, Message&&... message) {
  if (!to) return;
  caf::execution_unit* unit = caller_unit::of_this_thread(to->home_system());
  if (!unit) unit = thread_unit::of_this_thread(to->home_system());
  if (unit)
    to->eq_impl(caf::make_message_id(), nullptr, unit, std::forward<Message>(message)...);
  else
    caf::anon_send(to, std::forward<Message>(message)...);
}

} // namespace hearth::actors
