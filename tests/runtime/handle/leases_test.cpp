// get_or_compile: concurrent callers share one compile, a failure reaches each caller once, and a
// lease passes on.
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"
#include "tests/support/runtimes.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <barrier>
#include <future>
#include <pthread.h>
#include <stdexcept>
#include <thread>

namespace leases_test {

using namespace hearth;
using namespace hearth::test;
using namespace std::chrono_literals;

namespace {

constexpr int many = 100;

std::uint64_t waiting_for_leases(runtime& rt) { return rt.stats().leases_waiting; }

// Holds a lease in a thread until the test ends it; meanwhile other callers queue up for it.
class holder {
public:
  holder(const cache& in, compile_function then)
      : thread_([this, in, then = std::move(then)] {
        static_cast<void>(in.get_or_compile("k", [&]() -> expected<artifact> {
          has_it_.set_value();
          go_on_.get_future().wait();
          return then({});
        }));
      }) {
    has_it_.get_future().wait();
  }
  holder(const holder&) = delete;
  holder& operator=(const holder&) = delete;
  ~holder() { thread_.join(); }
  void go_on() { go_on_.set_value(); }

private:
  std::promise<void> has_it_, go_on_;
  std::thread thread_;
};

// The holder ends as `then` says; the waiter gets the lease at once and compiles.
void hands_on(runtime& rt, compile_function then) {
  const auto cache = rt.open("c").value();
  holder first(cache, std::move(then));
  auto next = std::async(std::launch::async, [&] {
    return cache.get_or_compile("k", [] { return artifact::make("by the next"); });
  });
  while (waiting_for_leases(rt) == 0)
    std::this_thread::yield();
  first.go_on();
  CHECK(next.get()->payload() == "by the next");
}

} // namespace

TEST_CASE("a failed compile of a hundred callers is reported to each once and the next compiles") {
  runtime rt(in_memory());
  const auto cache = rt.open("c").value();
  std::atomic<int> compiles{0}, told{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < many; ++i)
      threads.emplace_back([&] {
        const auto made = cache.get_or_compile("k", [&]() -> expected<artifact> {
          ++compiles;
          while (waiting_for_leases(rt) < many - 1)
            std::this_thread::yield();
          return fail(errc::compile_failed, "x.cpp:1: error");
        });
        told += !made && made.error() == error{errc::compile_failed, "x.cpp:1: error"};
      });
  }
  CHECK(compiles == 1);
  CHECK(told == many);
  CHECK(cache.get_or_compile("k", [] { return artifact::make("good"); })->payload() == "good");
}

TEST_CASE("a hundred asynchronous callers compile once on threads of the runtime") {
  runtime rt(in_memory());
  const auto cache = rt.open("c").value();
  std::atomic<int> compiles{0}, good{0};
  std::vector<future<artifact>> answers;
  for (int i = 0; i < many; ++i)
    answers.push_back(cache.get_or_compile_async("k", [&]() -> expected<artifact> {
      ++compiles;
      while (waiting_for_leases(rt) < many - 1)
        std::this_thread::yield();
      return artifact::make("binary");
    }));
  for (auto& answer : answers)
    good += answer.get()->payload() == "binary";
  CHECK(compiles == 1);
  CHECK(good == many);
}

TEST_CASE("a holder that throws passes its lease on at once") {
  runtime rt(in_memory());
  hands_on(rt, []() -> expected<artifact> { throw std::runtime_error("no luck"); });
}

TEST_CASE("a holder that throws something else than an exception passes its lease on at once") {
  runtime rt(in_memory());
  hands_on(rt, []() -> expected<artifact> { throw 1; });
}

TEST_CASE("a holder that was cancelled passes its lease on at once") {
  runtime rt(in_memory());
  hands_on(rt, []() -> expected<artifact> { return fail(errc::cancelled, "called off"); });
}

TEST_CASE("a holder whose thread ends passes its lease on at once") {
  runtime rt(in_memory());
  hands_on(rt, []() -> expected<artifact> { pthread_exit(nullptr); });
}

TEST_CASE_FIXTURE(on_disk, "a holder that throws passes its lease on over a store too") {
  runtime rt(settings());
  hands_on(rt, []() -> expected<artifact> { throw std::runtime_error("no luck"); });
}

TEST_CASE("an error after the caller's cancellation is the caller's alone") {
  runtime rt(in_memory());
  const auto cache = rt.open("c").value();
  std::stop_source stop;
  std::promise<void> has_it;
  std::jthread first([&] {
    const auto made = cache.get_or_compile(
        "k",
        [&]() -> expected<artifact> {
          has_it.set_value();
          while (!stop.stop_requested())
            std::this_thread::yield();
          return fail(errc::compile_failed, "killed");
        },
        call_options().stopped_by(stop.get_token()));
    CHECK(made.error().text() == "killed");
  });
  has_it.get_future().wait();
  auto next = cache.get_or_compile_async("k", [] { return artifact::make("by the next"); });
  stop.request_stop();
  CHECK(next.get()->payload() == "by the next");
}

TEST_CASE("no more asynchronous compiles run at once than allowed") {
  auto settings = in_memory();
  settings.compile_threads = 2;
  runtime rt(settings);
  const auto cache = rt.open("c").value();
  constexpr int compiles = 40;
  std::atomic<int> now{0}, most{0};
  std::atomic<bool> all_asked{false};
  std::vector<future<artifact>> answers;
  for (int i = 0; i < compiles; ++i)
    answers.push_back(cache.get_or_compile_async(key::integer(i), [&]() -> expected<artifact> {
      const auto running = ++now;
      for (auto before = most.load();
           before < running && !most.compare_exchange_weak(before, running);) {
      }
      // The first two stay until every compile has its lease; a third would run by then if it
      // could.
      while (most < 2 || (running <= 2 && !all_asked && rt.stats().leases_held < compiles))
        std::this_thread::yield();
      all_asked = true;
      --now;
      return artifact::make("binary");
    }));
  for (auto& answer : answers)
    CHECK(answer.get());
  CHECK(most >= 1);
  CHECK(most == 2);
}

TEST_CASE("an asynchronous compile that waits for another leaves its thread to it") {
  auto settings = in_memory();
  settings.compile_threads = 1;
  runtime rt(settings);
  const auto cache = rt.open("c").value();
  auto outer = cache.get_or_compile_async("outer", [&]() -> expected<artifact> {
    auto inner = cache.get_or_compile_async("inner", [] { return artifact::make("in"); });
    return artifact::make("out of " + std::string(inner.get()->payload()));
  });
  CHECK(outer.get()->payload() == "out of in");
}

TEST_CASE("a queued asynchronous compile that is given up passes its lease on") {
  auto settings = in_memory();
  settings.compile_threads = 1;
  runtime rt(settings);
  const auto cache = rt.open("c").value();
  std::promise<void> started, finish;
  auto busy = cache.get_or_compile_async("busy", [&]() -> expected<artifact> {
    started.set_value();
    finish.get_future().wait();
    return artifact::make("done");
  });
  started.get_future().wait();
  std::atomic<bool> compiled{false};
  {
    const auto queued = cache.get_or_compile_async("k", [&]() -> expected<artifact> {
      compiled = true;
      return artifact::make("wrong");
    });
    while (rt.stats().leases_held < 2)
      std::this_thread::yield();
  }
  // The only thread is busy; a caller on its own thread gets the lease all the same.
  CHECK(cache.get_or_compile("k", [] { return artifact::make("right"); })->payload() == "right");
  finish.set_value();
  CHECK(busy.get());
  CHECK_FALSE(compiled);
}

TEST_CASE("shutdown waits for running asynchronous compiles and answers the queued ones") {
  auto settings = in_memory();
  settings.compile_threads = 1;
  auto rt = std::make_unique<runtime>(settings);
  const auto cache = rt->open("c").value();
  std::promise<void> started;
  std::atomic<bool> ended{false}, second_ran{false};
  auto busy = cache.get_or_compile_async("busy", [&]() -> expected<artifact> {
    started.set_value();
    while (!internals::core(*rt).refusal())
      std::this_thread::yield();
    ended = true;
    return artifact::make("done");
  });
  started.get_future().wait();
  auto queued = cache.get_or_compile_async("queued", [&]() -> expected<artifact> {
    second_ran = true;
    return artifact::make("never");
  });
  rt->shutdown();
  CHECK(ended);
  CHECK_FALSE(second_ran);
  CHECK(busy.get()->payload() == "done");
  CHECK(queued.get().error().code() == errc::closed);
}

TEST_CASE_FIXTURE(on_disk, "compile callbacks of two processes that wait for each other end") {
  const auto begin = [&] {
    auto options = settings();
    options.nested_lease_deadline = 100ms;
    return options;
  };
  runtime one(begin()), two(begin()); // each has lease files of its own, like a process
  std::barrier both(2);
  std::atomic<int> timeouts = 0;
  std::atomic<int> made_by_the_other = 0;
  const auto cross = [&](runtime& rt, const std::string& mine, const std::string& other) {
    const auto cache = rt.open("c").value();
    return cache.get_or_compile(mine, [&, mine, other]() -> expected<artifact> {
      both.arrive_and_wait(); // both hold their leases
      const auto begun = std::chrono::steady_clock::now();
      const auto theirs = cache.get_or_compile(other, [] { return artifact::make("never"); });
      if (theirs) {
        CHECK(theirs->payload() == "made for " + other);
        ++made_by_the_other;
      } else {
        CHECK(theirs.error().code() == errc::timeout);
        // The deadline that was set has ended the wait, not the default one.
        CHECK(std::chrono::steady_clock::now() - begun < config{}.nested_lease_deadline);
        ++timeouts;
      }
      return artifact::make("made for " + mine);
    });
  };
  auto first = std::async(std::launch::async, [&] { return cross(one, "a", "b"); });
  const auto second = cross(two, "b", "a");
  const auto ended = first.get();
  REQUIRE(ended);
  REQUIRE(second);
  CHECK(ended->payload() == "made for a");
  CHECK(second->payload() == "made for b");
  CHECK(timeouts >= 1); // whose deadline comes first; the other may get its entry
  CHECK(timeouts + made_by_the_other == 2);
}

} // namespace leases_test
