// Callers that carry out their requests themselves, and actors with a thread of their own.
#include "actors/caller_unit.hpp"

#include "actors/thread_unit.hpp"

#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>

#include <condition_variable>
#include <doctest/doctest.h>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace caller_unit_test {

using namespace hearth;
using actors::caller_unit;
using actors::own_thread;
using actors::send_from_thread;

namespace {

struct host {
  caf::actor_system_config settings;
  caf::actor_system system{settings};
};

// Which thread did which step. Any thread may call it.
class journal {
public:
  void add(int step) {
    const std::lock_guard lock(mutex_);
    done_[step] = std::this_thread::get_id();
    changed_.notify_all();
  }
  /// Waits for the step, and says whether this thread did it.
  bool is_mine(int step) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_.contains(step); });
    return done_[step] == std::this_thread::get_id();
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int, std::thread::id> done_;
};

constexpr int stored = 10, answered = 100; // the steps of request n: n, stored * n, answered * n
constexpr int last = 9;                    // this request ends the actors

// As a disk shard: the first request of a group sends the shard a message to store the group.
caf::behavior storing(caf::event_based_actor* self, journal* notes) {
  using request = std::pair<int, caf::typed_response_promise<int>>;
  const auto group = std::make_shared<std::vector<request>>();
  return {[=](int number) -> caf::result<int> {
            notes->add(number);
            auto promise = self->make_response_promise<int>();
            group->emplace_back(number, promise);
            if (group->size() == 1) self->send(self, true);
            return promise;
          },
          [=](bool) {
            for (auto& [number, promise] : std::exchange(*group, {})) {
              notes->add(stored * number);
              promise.deliver(number);
              if (number == last) self->quit();
            }
          }};
}

caf::actor spawn_storing(host& in, journal& notes) {
  caf::actor_config config;
  config.init_fun = caf::actor_config::init_fun_type([&notes](caf::local_actor* self) {
    return storing(static_cast<caf::event_based_actor*>(self), &notes);
  });
  return in.system.spawn_class<actors::on_own_thread<caf::event_based_actor>, caf::lazy_init>(
      config, std::make_shared<own_thread>(in.system));
}

// As a memory shard: asks the store.
caf::behavior asking(caf::event_based_actor* self, journal* notes, const caf::actor& store) {
  return {[=](int number) {
    self->request(store, caf::infinite, number).then([=](int) {
      notes->add(answered * number);
      if (number == last) self->quit();
    });
  }};
}

struct fixture : host {
  // Sends a request as a caller that waits; the answer has come when it returns.
  bool call(int number) {
    {
      caller_unit unit(system);
      send_from_thread(shard, number);
      unit.run();
    }
    return notes.is_mine(answered * number);
  }
  ~fixture() { // NOLINT: ends the actors, for which the system waits
    caf::anon_send(shard, last);
    (void)notes.is_mine(answered * last);
  }

  journal notes;
  caf::actor store = spawn_storing(*this, notes);
  caf::actor shard = system.spawn<caf::lazy_init>(asking, &notes, store);
};

} // namespace

TEST_CASE_FIXTURE(fixture, "a caller carries out its request when the actors are idle") {
  for (int number = 1; number <= 3; ++number) {
    CHECK(call(number));
    CHECK(notes.is_mine(number));
    CHECK(notes.is_mine(stored * number));
  }
}

TEST_CASE_FIXTURE(fixture, "without a caller an actor runs on the thread of its own") {
  caf::anon_send(shard, 1);
  CHECK_FALSE(notes.is_mine(1));
  CHECK_FALSE(notes.is_mine(stored));
  CHECK_FALSE(notes.is_mine(answered));
}

TEST_CASE_FIXTURE(fixture, "a caller leaves what it has not run to the other threads") {
  {
    const caller_unit unit(system);
    send_from_thread(shard, 1);
  }
  CHECK_FALSE(notes.is_mine(answered));
}

TEST_CASE_FIXTURE(fixture, "a caller runs nothing of another caller") {
  {
    caller_unit unit(system);
    send_from_thread(shard, 1);
    caf::anon_send(shard, 2); // behind it in the same mailbox
    unit.run();
  }
  CHECK_FALSE(notes.is_mine(stored * 2));
  CHECK_FALSE(notes.is_mine(answered * 2));
}

TEST_CASE_FIXTURE(fixture, "callers at once are all answered") {
  std::vector<std::jthread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([this, i] {
      for (int n = 0; n < 500; ++n)
        (void)call(1'000 * (i + 1) + n);
    });
  callers.clear(); // each call returns when its answer has come
  (void)call(1);
}

TEST_CASE("a thread with a unit of another system leaves actors to the workers") {
  fixture here;
  host there;
  {
    caller_unit unit(there.system);
    CHECK(caller_unit::of_this_thread() == &unit);
    CHECK(caller_unit::of_this_thread(here.system) == nullptr);
    send_from_thread(here.shard, 1);
    unit.run();
  }
  CHECK(caller_unit::of_this_thread() == nullptr);
  CHECK_FALSE(here.notes.is_mine(answered));
}

TEST_CASE("a thread of its own ends with its last owner, on whichever thread") {
  host in;
  journal notes;
  {
    // The last reference to the actor, and so to its thread, is dropped on that thread.
    const auto store = spawn_storing(in, notes);
    caf::anon_send(store, last);
  }
  CHECK_FALSE(notes.is_mine(stored * last));
}

} // namespace caller_unit_test
