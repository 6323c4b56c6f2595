// The thread that ends requests at their deadlines.
#include "runtime/engine/threads/deadlines.hpp"
#include "tests/support/thread_end.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <doctest/doctest.h>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace deadlines_test {

using namespace hearth;
using namespace hearth::engine;
using namespace std::chrono_literals;

namespace {

using clock = std::chrono::steady_clock;

// Keeps the deadlines' thread busy until released, so that requests added meanwhile are due
// together.
class busy_thread {
public:
  explicit busy_thread(deadlines& in) {
    in.add(clock::now(), request_, [this](int&) {
      begun_.set_value();
      released_.get_future().wait();
    });
    begun_.get_future().wait();
  }
  void release() { released_.set_value(); }

private:
  std::shared_ptr<int> request_ = std::make_shared<int>();
  std::promise<void> begun_;
  std::promise<void> released_;
};

} // namespace

TEST_CASE("a request expires once its deadline has passed") {
  deadlines expiries;
  const auto request = std::make_shared<int>(7);
  std::promise<std::pair<int, clock::time_point>> expired;
  const auto when = clock::now() + 2ms;
  expiries.add(when, request, [&](int& late) { expired.set_value({late, clock::now()}); });
  const auto [which, at] = expired.get_future().get();
  CHECK(which == 7);
  CHECK(at >= when);
}

TEST_CASE("the earliest deadline comes first, whenever it was added") {
  constexpr int requests = 100;
  deadlines expiries;
  std::vector<int> order; // used by the one thread only
  std::promise<void> all;
  const auto request = std::make_shared<int>();
  busy_thread busy(expiries);
  const auto now = clock::now();
  for (int i = 0; i < requests; ++i) {
    const int number = i * 37 % requests; // each number once
    expiries.add(now - 1s + std::chrono::milliseconds(number), request, [&, number](int&) {
      order.push_back(number);
      if (order.size() == requests) all.set_value();
    });
  }
  busy.release();
  all.get_future().wait();
  CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("a deadline far away does not hold up one that is near") {
  deadlines expiries;
  const auto request = std::make_shared<int>();
  std::atomic<bool> far{false};
  std::promise<void> near;
  expiries.add(clock::now() + 1h, request, [&](int&) { far = true; });
  expiries.add(clock::now(), request, [&](int&) { near.set_value(); });
  near.get_future().wait();
  CHECK_FALSE(far);
}

TEST_CASE("a request that is destroyed does not expire") {
  deadlines expiries;
  std::atomic<bool> gone_expired{false};
  std::promise<void> last_expired;
  auto gone = std::make_shared<int>();
  const auto last = std::make_shared<int>();
  busy_thread busy(expiries);
  const auto now = clock::now();
  expiries.add(now - 1s, gone, [&](int&) { gone_expired = true; });
  expiries.add(now, last, [&](int&) { last_expired.set_value(); });
  gone.reset();
  busy.release();
  last_expired.get_future().wait();
  CHECK_FALSE(gone_expired);
}

TEST_CASE("deadlines of answered requests do not accumulate") {
  deadlines expiries;
  const auto token = std::make_shared<int>();
  for (int i = 0; i < 20'000; ++i)
    expiries.add(clock::now() + 1h, std::make_shared<int>(), [token](int&) {});
  CHECK(token.use_count() <= 1 + 1024);
}

TEST_CASE("stop forgets every deadline, and the ones that are added later") {
  deadlines expiries;
  const auto request = std::make_shared<int>();
  const auto token = std::make_shared<int>();
  const auto note = [token](int&) { ++*token; };
  expiries.add(clock::now() + 1h, request, note);
  expiries.add(clock::now() + 1ms, request, [](int&) {});
  CHECK(token.use_count() == 3);
  expiries.stop();
  CHECK(token.use_count() == 2);
  expiries.add(clock::now() - 1h, request, note);
  CHECK(token.use_count() == 2);
  expiries.stop();
  CHECK(*token == 0);
}

TEST_CASE("a request that expires may stop the deadlines") {
  deadlines expiries;
  const auto request = std::make_shared<int>();
  test::thread_end own_thread;
  expiries.add(clock::now(), request, [&](int&) {
    own_thread.watch_this_thread();
    expiries.stop();
  });
  own_thread.wait();
}

TEST_CASE("the deadlines may be destroyed while a request expires on their thread") {
  auto expiries = std::make_unique<deadlines>();
  const auto request = std::make_shared<int>();
  std::promise<void> handed_over;
  test::thread_end own_thread;
  expiries->add(clock::now(), request, [&](int&) {
    own_thread.watch_this_thread();
    handed_over.get_future().wait();
    expiries.reset(); // as does a callback that has the last handle of a runtime
  });
  handed_over.set_value();
  own_thread.wait();
}

TEST_CASE("a request that expired may hold the last reference to the deadlines") {
  auto expiries = std::make_shared<deadlines>();
  const auto request = std::make_shared<int>();
  std::promise<void> handed_over;
  test::thread_end own_thread;
  expiries->add(clock::now(), request, [&, mine = expiries](int&) {
    own_thread.watch_this_thread();
    handed_over.get_future().wait();
  });
  expiries.reset();
  handed_over.set_value();
  own_thread.wait();
}

TEST_CASE("a forgotten request may use the deadlines in its destructor") {
  deadlines expiries;
  struct user {
    explicit user(deadlines& of)
        : of_(of) {}
    user(const user&) = delete;
    user& operator=(const user&) = delete;
    ~user() {
      of_.add(clock::now() + 1h, std::make_shared<int>(), [](int&) {});
    }
    deadlines& of_;
  };
  for (int i = 0; i < 3'000; ++i)
    expiries.add(clock::now() + 1h, std::make_shared<int>(),
                 [one = std::make_shared<user>(expiries)](int&) {});
  expiries.stop();
}

TEST_CASE("many threads' requests expire once each while they live") {
  constexpr std::size_t adders = 4;
  constexpr std::size_t requests = 500; // per thread
  deadlines expiries;
  std::vector<std::atomic<int>> times(adders * requests);
  std::atomic<std::size_t> expired{0};
  std::promise<void> all;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < adders; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < requests; ++i) {
        // Each request lives until it expires.
        const auto request = std::make_shared<std::shared_ptr<void>>();
        *request = request;
        expiries.add(clock::now() + std::chrono::microseconds(i * 7 % 50), request,
                     [&, place = t * requests + i](std::shared_ptr<void>& self) {
                       ++times[place];
                       self.reset();
                       if (++expired == adders * requests) all.set_value();
                     });
        expiries.add(clock::now(), std::make_shared<int>(), [](int&) {}); // destroyed at once
      }
    });
  for (auto& thread : threads)
    thread.join();
  all.get_future().wait();
  expiries.stop();
  CHECK(std::all_of(times.begin(), times.end(), [](const auto& one) { return one == 1; }));
}

TEST_CASE("nothing expires after stop, even if other threads add deadlines meanwhile") {
  for (int round = 0; round < 20; ++round) {
    deadlines expiries;
    const auto request = std::make_shared<int>();
    const auto token = std::make_shared<int>();
    std::atomic<int> expired{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 200; ++i)
          expiries.add(clock::now(), request, [&, token](int&) { ++expired; });
      });
    while (round % 2 == 0 && expired == 0)
      std::this_thread::yield();
    expiries.stop();
    const int at_stop = expired;
    for (auto& thread : threads)
      thread.join();
    CHECK(expired == at_stop);
    CHECK(token.use_count() == 1);
  }
}

} // namespace deadlines_test
