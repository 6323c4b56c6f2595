// Actors that a thread wakes and runs itself, besides those that CAF's workers run.
#include "actors/thread_unit.hpp"

#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>

#include <chrono>
#include <cstddef>
#include <doctest/doctest.h>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace thread_unit_test {

using namespace hearth;
using actors::send_from_thread;
using actors::thread_unit;

namespace {

constexpr std::chrono::hours long_turn{1};

struct host {
  caf::actor_system_config settings;
  caf::actor_system system{settings};
};

// Records which thread handled which number, in order. Any thread may call it.
class journal {
public:
  struct line {
    int number;
    std::thread::id by;
  };
  void add(int number) {
    const std::lock_guard lock(mutex_);
    lines_.push_back({number, std::this_thread::get_id()});
  }
  std::vector<line> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

private:
  mutable std::mutex mutex_;
  std::vector<line> lines_;
};

// Notes each number and sends it to the next actor, if there is one. 0 ends both.
caf::behavior noting(caf::event_based_actor* self, journal* notes, const caf::actor& next) {
  return {[=](int number) {
    notes->add(number);
    if (next) self->send(next, number);
    if (number == 0) self->quit();
  }};
}

bool are_all_by(const std::vector<journal::line>& lines, std::thread::id thread) {
  for (const auto& one : lines)
    if (one.by != thread) return false;
  return true;
}

// Spawned here, so that the actor starts on the workers before it gets another message.
caf::actor begun(host& in, journal& notes, const caf::actor& next = {}) {
  return in.system.spawn<caf::lazy_init>(noting, &notes, next);
}

} // namespace

TEST_CASE(
    "an actor that a thread's unit wakes runs on that thread, and so do the actors that it wakes") {
  host here;
  journal first;
  journal second;
  const auto last = begun(here, second);
  const auto actor = begun(here, first, last);
  {
    thread_unit unit(here.system, long_turn);
    send_from_thread(actor, 1);
    send_from_thread(actor, 2);
    CHECK(first.lines().empty());
    unit.run();
    CHECK(first.lines().size() == 2);
    CHECK(second.lines().size() == 2);
    send_from_thread(actor, 0);
    unit.run();
  }
  here.system.await_all_actors_done();
  REQUIRE(second.lines().size() == 3);
  CHECK(second.lines().back().number == 0);
  CHECK(are_all_by(first.lines(), std::this_thread::get_id()));
  CHECK(are_all_by(second.lines(), std::this_thread::get_id()));
}

TEST_CASE("a thread without a unit, or with one of another system, leaves actors to the workers") {
  host here;
  host there;
  journal notes;
  const auto one = begun(here, notes);
  const auto other = begun(here, notes);
  send_from_thread(one, 0);
  {
    thread_unit unit(there.system);
    CHECK(thread_unit::of_this_thread() == &unit);
    CHECK(thread_unit::of_this_thread(here.system) == nullptr);
    send_from_thread(other, 0);
    unit.run();
    here.system.await_all_actors_done();
  }
  CHECK(thread_unit::of_this_thread() == nullptr);
  CHECK(notes.lines().size() == 2);
  for (const auto& line : notes.lines())
    CHECK(line.by != std::this_thread::get_id());
}

TEST_CASE("many messages of one actor keep their order, and let others have their turn") {
  host here;
  journal notes;
  const auto busy = begun(here, notes);
  const auto other = begun(here, notes);
  constexpr int count = 1000;
  {
    thread_unit unit(here.system, long_turn);
    for (int i = 1; i <= count; ++i)
      send_from_thread(busy, i);
    send_from_thread(other, -1);
    send_from_thread(busy, 0);
    send_from_thread(other, 0);
    unit.run();
  }
  here.system.await_all_actors_done();
  const auto lines = notes.lines();
  REQUIRE(lines.size() == count + 3);
  int before = 0;
  std::size_t others_turn = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].number == -1) others_turn = i;
    if (lines[i].number <= 0) continue;
    CHECK(lines[i].number == before + 1);
    before = lines[i].number;
  }
  CHECK(before == count);
  CHECK(others_turn < count);
}

TEST_CASE("a unit leaves the rest to the workers when its turn is over") {
  host here;
  journal first;
  journal second;
  const auto one = begun(here, first);
  const auto next = begun(here, second);
  {
    thread_unit unit(here.system, std::chrono::nanoseconds(0));
    send_from_thread(one, 0);
    send_from_thread(next, 0);
    unit.run();
    here.system.await_all_actors_done();
  }
  REQUIRE(first.lines().size() == 1);
  CHECK(first.lines().front().by == std::this_thread::get_id());
  REQUIRE(second.lines().size() == 1);
  CHECK(second.lines().front().by != std::this_thread::get_id());
}

TEST_CASE("the workers run what a unit has not run when it ends or its thread begins to wait") {
  host here;
  journal notes;
  const auto one = begun(here, notes);
  const auto other = begun(here, notes);
  {
    thread_unit unit(here.system, long_turn);
    send_from_thread(one, 0);
    unit.leave_to_workers();
    while (notes.lines().empty())
      std::this_thread::yield();
    send_from_thread(other, 0);
  }
  here.system.await_all_actors_done();
  CHECK(notes.lines().size() == 2);
  for (const auto& line : notes.lines())
    CHECK(line.by != std::this_thread::get_id());
}

} // namespace thread_unit_test
