// The threads of compile callbacks: how many run at once, when a callback leaves its place to
// another, and how the threads end.
#include "runtime/engine/threads/callback_threads.hpp"

#include "runtime/api/blocking_region.hpp"
#include "tests/support/thread_end.hpp"
#include "tests/support/waiting_thread.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <doctest/doctest.h>
#include <future>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

namespace callback_threads_test {

using namespace hearth;
using namespace hearth::engine;

namespace {

// Counts the threads that are in a place, and the maximum so far. Any thread may call it.
class crowd {
public:
  void enter() {
    const auto now = ++now_;
    for (auto most = most_.load(); most < now && !most_.compare_exchange_weak(most, now);) {
    }
  }
  void leave() { --now_; }
  int most() const { return most_; }

private:
  std::atomic<int> now_{0};
  std::atomic<int> most_{0};
};

// A task that has begun and runs until it is released.
class begun_task {
public:
  explicit begun_task(callback_threads& on) {
    on.run([this] {
      begun_.set_value();
      released_.get_future().wait();
      has_ended_ = true;
    });
    begun_.get_future().wait();
  }
  void release() { released_.set_value(); }
  bool has_ended() const { return has_ended_; }

private:
  std::promise<void> begun_;
  std::promise<void> released_;
  std::atomic<bool> has_ended_{false};
};

} // namespace

TEST_CASE("as many callbacks run at once as allowed") {
  callback_threads three(3);
  std::barrier all_here(3);
  std::latch done(3);
  for (int i = 0; i < 3; ++i)
    three.run([&] {
      all_here.arrive_and_wait(); // blocks for ever with fewer threads
      done.count_down();
    });
  done.wait();
}

TEST_CASE("no more callbacks run at once than allowed, from any number of callers") {
  constexpr int askers = 4;
  constexpr int tasks = 300; // per caller
  callback_threads three(3);
  crowd running;
  std::latch done(askers * tasks);
  std::vector<std::thread> threads;
  for (int t = 0; t < askers; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < tasks; ++i)
        three.run([&, i] {
          running.enter();
          if (i % 16 == 0) std::this_thread::yield();
          running.leave();
          done.count_down();
        });
    });
  for (auto& thread : threads)
    thread.join();
  done.wait();
  CHECK(running.most() <= 3);
}

TEST_CASE("a single thread runs callbacks in the order of their arrival") {
  constexpr int tasks = 200;
  callback_threads one(0); // 0 means one thread
  std::vector<int> order;
  std::latch done(tasks);
  for (int i = 0; i < tasks; ++i)
    one.run([&, i] {
      order.push_back(i);
      done.count_down();
    });
  done.wait();
  CHECK(order.size() == tasks);
  CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("a callback that waits leaves its place to one other at a time") {
  constexpr std::ptrdiff_t tasks = 100;
  callback_threads one(1);
  crowd running;
  std::latch others_done(tasks);
  std::promise<void> waited;
  one.run([&] {
    const blocking_region meanwhile;
    others_done.wait(); // blocks for ever if the callback keeps the only place
    waited.set_value();
  });
  for (std::ptrdiff_t i = 0; i < tasks; ++i)
    one.run([&] {
      running.enter();
      std::this_thread::yield();
      running.leave();
      others_done.count_down();
    });
  waited.get_future().wait();
  CHECK(running.most() == 1);
}

TEST_CASE("callbacks that wait for each other in a chain all end") {
  constexpr int links = 50;
  callback_threads one(1);
  std::vector<std::promise<int>> made(links + 1);
  for (int i = 0; i < links; ++i)
    one.run([&, i] {
      const blocking_region meanwhile;
      made[std::size_t(i)].set_value(made[std::size_t(i) + 1].get_future().get() + 1);
    });
  one.run([&] { made[links].set_value(0); });
  CHECK(made[0].get_future().get() == links);
  one.stop(); // no callback is about to use the promises
}

TEST_CASE("a wait of a thread that runs no callback changes nothing") {
  callback_threads one(1);
  begun_task first(one);
  std::atomic<bool> second{false};
  {
    const blocking_region meanwhile;
    one.run([&] { second = first.has_ended(); });
  }
  first.release();
  std::promise<void> third;
  one.run([&] { third.set_value(); });
  third.get_future().wait();
  CHECK(second);
}

TEST_CASE("refuse drops queued callbacks and later ones with their captures") {
  callback_threads one(1);
  begun_task first(one);
  const auto token = std::make_shared<int>(0);
  one.run([token] { ++*token; });
  CHECK(token.use_count() == 2);
  one.refuse();
  CHECK(token.use_count() == 1);
  one.run([token] { ++*token; });
  CHECK(token.use_count() == 1);
  CHECK_FALSE(first.has_ended());
  first.release();
  one.stop();
  CHECK(first.has_ended());
  CHECK(*token == 0);
}

TEST_CASE("stop waits for the callbacks that have begun") {
  callback_threads two(2);
  begun_task first(two);
  begun_task second(two);
  bool had_ended = false;
  test::waiting_thread waiting;
  std::thread stops([&] {
    waiting.waits_next();
    two.stop();
    had_ended = first.has_ended() && second.has_ended();
  });
  CHECK(waiting.falls_asleep());
  first.release();
  second.release();
  stops.join();
  CHECK(had_ended);
  two.stop(); // a second stop has nothing to do
}

TEST_CASE("a callback may end the threads, its own among them") {
  auto threads = std::make_unique<callback_threads>(2);
  begun_task other(*threads);
  std::promise<void> handed_over;
  test::thread_end own_thread;
  threads->run([&] {
    own_thread.watch_this_thread();
    handed_over.get_future().wait();
    other.release();
    threads.reset();
  });
  handed_over.set_value();
  own_thread.wait();
  CHECK(other.has_ended());
}

TEST_CASE("a callback may hold the last reference to the threads") {
  auto threads = std::make_shared<callback_threads>(1);
  std::promise<void> handed_over;
  test::thread_end own_thread;
  threads->run([&, mine = threads] {
    own_thread.watch_this_thread();
    handed_over.get_future().wait();
  });
  threads.reset();
  handed_over.set_value();
  own_thread.wait();
}

TEST_CASE("callbacks from many threads run at most once, and not after the end") {
  constexpr int rounds = 10;
  constexpr int askers = 3;
  constexpr std::size_t tasks = 200; // per caller
  for (int round = 0; round < rounds; ++round) {
    const auto token = std::make_shared<int>(0);
    std::vector<std::atomic<int>> times(askers * tasks);
    callback_threads two(2);
    std::barrier begin(askers + 1);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < askers; ++t)
      threads.emplace_back([&, t] {
        begin.arrive_and_wait();
        for (std::size_t i = 0; i < tasks; ++i)
          two.run([&times, token, i, place = t * tasks + i] {
            ++times[place];
            if (i % 3 == 0) {
              const blocking_region meanwhile;
              if (i % 16 == 0) std::this_thread::yield();
            }
          });
      });
    begin.arrive_and_wait();
    for (int i = 0; i < round; ++i)
      std::this_thread::yield();
    two.stop();
    int at_stop = 0;
    for (const auto& one : times)
      at_stop += one;
    for (auto& thread : threads)
      thread.join();
    int in_all = 0;
    for (const auto& one : times) {
      in_all += one;
      CHECK(one <= 1);
    }
    CHECK(in_all == at_stop);
    CHECK(token.use_count() == 1);
  }
}

} // namespace callback_threads_test
