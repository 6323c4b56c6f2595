// Lets a thread that is about to wait for an answer carry out the request itself: the actors that
// the request wakes run on this thread, also those that have a thread of their own because they
// block. An answer then needs no other thread, if the actors are idle.
#pragma once

#include <caf/actor_system.hpp>
#include <caf/execution_unit.hpp>
#include <caf/resumable.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <semaphore.h>
#include <thread>
#include <utility>

namespace hearth::actors {

/// The thread of one actor that blocks. Any thread adds the actor.
class own_thread {
public:
  explicit own_thread(caf::actor_system& system);
  own_thread(const own_thread&) = delete;
  own_thread& operator=(const own_thread&) = delete;
  /// Waits for the thread, unless it runs on that thread.
  ~own_thread();

  /// The thread runs the actor that it belongs to. The caller passes on a reference to it.
  void add(caf::resumable* actor) { shared_->add(actor); }
  caf::actor_system& system() const noexcept { return system_; }

private:
  // What the thread needs; it may outlive the object.
  struct shared {
    shared() noexcept { ::sem_init(&filled, 0, 0); }
    shared(const shared&) = delete;
    shared& operator=(const shared&) = delete;
    ~shared() { ::sem_destroy(&filled); }
    void add(caf::resumable* actor); // null: the end

    ::sem_t filled; // counts the actors
    std::mutex mutex;
    std::deque<caf::resumable*> woken;
  };
  static void run(caf::actor_system& system, const std::shared_ptr<shared>& in);

  caf::actor_system& system_;
  const std::shared_ptr<shared> shared_;
  std::thread thread_;
};

/// Belongs to one call: the calling thread makes it, sends the request by `send_from_thread`, calls
/// `run`, and destroys it before it waits.
///
/// It runs nothing but this request: the actor that gets it, if that actor was idle, for one
/// message; an idle actor with an own thread that it asks, for two (a disk shard collects a write,
/// then stores its group); then the first again, for the answer. So it never runs what other
/// callers wait for, and no callback of another call runs on this thread.
class caller_unit final : public caf::execution_unit {
public:
  explicit caller_unit(caf::actor_system& system);
  caller_unit(const caller_unit&) = delete;
  caller_unit& operator=(const caller_unit&) = delete;
  /// Passes what it has not run to the actors' own threads and to the workers.
  ~caller_unit() override;

  void run();

  /// For actors, and for `send_from_thread`.
  void exec_later(caf::resumable* actor) override;
  /// As above, for an actor with this thread.
  void exec_later(caf::resumable* actor, own_thread& thread) { steps_.push_back({actor, &thread}); }

  /// The calling thread's unit, or null.
  static caller_unit* of_this_thread() noexcept;
  /// As above; null also if the unit runs actors of another system.
  static caller_unit* of_this_thread(const caf::actor_system& system) noexcept;

private:
  struct step {
    caf::resumable* actor; // the step holds a reference
    own_thread* thread;    // null: CAF's workers run the actor
  };
  void leave(const step& one);

  caf::resumable* asked_ = nullptr; // the actor that gets the request
  std::deque<step> steps_;
};

/// An actor class whose actors have a thread of their own, which callers may stand in for. `Base`:
/// the class that CAF would spawn.
template <class Base>
class on_own_thread final : public Base {
public:
  template <class... Ts>
  on_own_thread(caf::actor_config& config, std::shared_ptr<own_thread> thread, Ts&&... parts)
      : Base(config, std::forward<Ts>(parts)...)
      , wake_(*thread)
      , thread_(std::move(thread)) {}

  void enqueue(caf::mailbox_element_ptr message, caf::execution_unit* from) override {
    auto* const caller = caller_unit::of_this_thread();
    if (caller && caller == from) {
      wakes_caller wake(*caller, *thread_);
      Base::enqueue(std::move(message), &wake);
    } else {
      Base::enqueue(std::move(message), &wake_);
    }
  }

private:
  // Units that CAF tells of this actor alone, when a message has woken it.
  class wakes_thread final : public caf::execution_unit {
  public:
    explicit wakes_thread(own_thread& thread)
        : caf::execution_unit(&thread.system())
        , thread_(thread) {}
    void exec_later(caf::resumable* actor) override { thread_.add(actor); }

  private:
    own_thread& thread_;
  };
  class wakes_caller final : public caf::execution_unit {
  public:
    wakes_caller(caller_unit& caller, own_thread& thread)
        : caf::execution_unit(&thread.system())
        , caller_(caller)
        , thread_(thread) {}
    void exec_later(caf::resumable* actor) override { caller_.exec_later(actor, thread_); }

  private:
    caller_unit& caller_;
    own_thread& thread_;
  };

  wakes_thread wake_;
  const std::shared_ptr<own_thread> thread_;
};

} // namespace hearth::actors
