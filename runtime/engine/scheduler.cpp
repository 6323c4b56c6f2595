#include "runtime/engine/scheduler.hpp"

#include <caf/actor_system_config.hpp>
#include <caf/policy/unprofiled.hpp>
#include <caf/scheduler/coordinator.hpp>

#include <cerrno>
#include <deque>
#include <mutex>
#include <semaphore.h>

namespace hearth::engine {
namespace {

// The queue of actors that have messages, in order of arrival. Any thread.
//
// Uses POSIX's semaphore, because that of libstdc++ yields the processor a few times before it
// sleeps, which takes time from threads that have work.
class work_queue {
public:
  work_queue() noexcept { ::sem_init(&filled_, 0, 0); }
  work_queue(const work_queue&) = delete;
  work_queue& operator=(const work_queue&) = delete;
  ~work_queue() { ::sem_destroy(&filled_); }

  void add(caf::resumable* job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(job);
    }
    ::sem_post(&filled_);
  }

  /// Takes the next actor; waits while there is none.
  caf::resumable* take() {
    while (::sem_wait(&filled_) != 0 && errno == EINTR) {
    }
    const std::lock_guard lock(mutex_);
    return pop();
  }

  template <class Visit>
  void drain(Visit visit) {
    const std::lock_guard lock(mutex_);
    while (!jobs_.empty())
      visit(pop());
  }

private:
  caf::resumable* pop() {
    auto* const job = jobs_.front();
    jobs_.pop_front();
    return job;
  }

  ::sem_t filled_; // counts the jobs
  std::mutex mutex_;
  std::deque<caf::resumable*> jobs_;
};

// The scheduling policy, as CAF's coordinator and workers require it.
class sharing : public caf::policy::unprofiled {
public:
  struct coordinator_data {
    explicit coordinator_data(caf::scheduler::abstract_coordinator*) {}
    work_queue queue;
  };
  struct worker_data {
    explicit worker_data(caf::scheduler::abstract_coordinator*) {}
  };

  template <class Coordinator>
  void central_enqueue(Coordinator* self, caf::resumable* job) {
    self->data().queue.add(job);
  }
  template <class Worker>
  void external_enqueue(Worker* self, caf::resumable* job) {
    self->parent()->data().queue.add(job);
  }
  template <class Worker>
  void internal_enqueue(Worker* self, caf::resumable* job) {
    self->parent()->data().queue.add(job);
  }
  template <class Worker>
  void resume_job_later(Worker* self, caf::resumable* job) {
    self->parent()->data().queue.add(job);
  }
  template <class Worker>
  caf::resumable* dequeue(Worker* self) {
    return self->parent()->data().queue.take();
  }
  template <class Worker, class Visit>
  void foreach_resumable(Worker*, Visit) {}
  template <class Coordinator, class Visit>
  void foreach_central_resumable(Coordinator* self, Visit visit) {
    self->data().queue.drain(visit);
  }
};

} // namespace

void share_work(caf::actor_system_config& system) {
  system.load<caf::scheduler::coordinator<sharing>>();
}

} // namespace hearth::engine
