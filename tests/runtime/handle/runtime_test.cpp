#include "runtime/handle/runtime.hpp"

#include "runtime/engine/core.hpp"
#include "tests/support/runtimes.hpp"

#include <caf/event_based_actor.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <barrier>
#include <clocale>
#include <csignal>
#include <fstream>
#include <future>
#include <memory>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace runtime_test {

using namespace hearth;
using namespace hearth::test;

TEST_CASE_FIXTURE(on_disk, "the handle gets inserts puts and erases") {
  runtime rt(settings());
  const auto cache = rt.open("c").value();
  CHECK_FALSE(cache.get("k")->hit());
  CHECK(*cache.insert("k", artifact::make("one")) == insert_outcome::inserted);
  CHECK(*cache.insert("k", artifact::make("two")) == insert_outcome::exists);
  CHECK(cache.get("k")->value.payload() == "one");
  CHECK(cache.get("k")->from == tier::memory);
  CHECK(cache.put("k", artifact::make("three")));
  CHECK(cache.get("k")->value.payload() == "three");
  CHECK(*cache.erase("k"));
  CHECK_FALSE(*cache.erase("k"));
  CHECK_FALSE(cache.get("k")->hit());
  CHECK(cache.insert("k", artifact{}).error().code() == errc::invalid_value);
  CHECK(cache.get(key::bytes(std::string(max_key_bytes, 'k'))).error().code() == errc::invalid_key);
}

TEST_CASE_FIXTURE(on_disk, "metrics are a page of every counter until the runtime is closed") {
  runtime rt(settings());
  const auto cache = rt.open("c").value();
  REQUIRE(cache.insert("k", artifact::make("one")));
  REQUIRE(cache.get("k")->hit());
  REQUIRE(cache.get_or_compile("made", [] { return artifact::make("code"); }));
  const auto page = rt.metrics().value();
  for (const auto* line :
       {"# TYPE hearth_hits_total counter", "hearth_hits_total{tier=\"memory\"} 1",
        "hearth_memory_entries 2", "hearth_disk_writes_total{outcome=\"inserted\"} 2",
        "hearth_cache_lookups_total{cache=\"c\",version=\"0\",outcome=\"memory\"} 1",
        "hearth_cache_lookups_total{cache=\"c\",version=\"0\",outcome=\"miss\"} 1",
        "hearth_cache_writes_total{cache=\"c\",version=\"0\",outcome=\"inserted\"} 2",
        "hearth_cache_compiles_total{cache=\"c\",version=\"0\",outcome=\"made\"} 1",
        "hearth_cache_saved_milliseconds_total{cache=\"c\",version=\"0\"} 0",
        "hearth_unanswered 0"})
    CHECK_MESSAGE(page.find("\n" + std::string(line) + "\n") != std::string::npos, page);
  CHECK(page.find("hearth_remote") == std::string::npos);
  rt.shutdown();
  CHECK(rt.metrics().error().code() == errc::closed);
}

TEST_CASE_FIXTURE(on_disk, "acknowledged entries are on disk in the next runtime") {
  {
    runtime rt(settings());
    CHECK(rt.open("c")->insert(key::integer(1), artifact::make("x", {{"a", 1}})));
  }
  runtime rt(settings());
  const auto found = rt.open("c")->get(key::integer(1));
  CHECK(found->from == tier::disk);
  CHECK(found->value.payload() == "x");
  CHECK(found->value.metadata()->at("a") == value{1});
  CHECK_FALSE(rt.open("c", cache_options().with_version("1"))->get(key::integer(1))->hit());
}

TEST_CASE("the asynchronous forms answer by get, callback and coroutine") {
  runtime rt(in_memory());
  const auto cache = rt.open("c").value();
  CHECK(*cache.insert_async("k", artifact::make("v")).get() == insert_outcome::inserted);
  auto hit = cache.get_async("k");
  CHECK(hit.ready());
  CHECK(hit.get()->value.payload() == "v");
  std::promise<bool> erased;
  cache.erase_async("k").then([&](expected<bool> answer) { erased.set_value(answer.value()); });
  CHECK(erased.get_future().get());
  std::promise<std::string> seen;
  [](const hearth::cache& c, std::promise<std::string>& to) -> task {
    const auto stored = co_await c.put_async("k", artifact::make("w"));
    const auto found = co_await c.get_async("k");
    to.set_value(stored ? std::string(found->value.payload()) : "");
  }(cache, seen);
  CHECK(seen.get_future().get() == "w");
}

TEST_CASE_FIXTURE(on_disk, "a hundred threads that request one key compile once") {
  runtime rt(settings());
  const auto cache = rt.open("c").value();
  constexpr int count = 100;
  std::atomic<int> compiles{0};
  std::atomic<int> good{0};
  std::barrier start(count);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i)
      threads.emplace_back([&] {
        start.arrive_and_wait();
        const auto made = cache.get_or_compile("k", [&]() -> expected<artifact> {
          ++compiles;
          return artifact::make("binary");
        });
        good += made && made->payload() == "binary";
      });
  }
  CHECK(compiles == 1);
  CHECK(good == count);
}

TEST_CASE("a failed compile is reported and the next caller compiles again") {
  runtime rt(in_memory());
  const auto cache = rt.open("c").value();
  const auto failed = cache.get_or_compile(
      "k", []() -> expected<artifact> { return fail(errc::compile_failed, "x.cpp:1: error"); });
  CHECK(failed.error() == error{errc::compile_failed, "x.cpp:1: error"});
  const auto thrown = cache.get_or_compile(
      "k", []() -> expected<artifact> { throw std::runtime_error("no luck"); });
  CHECK(thrown.error().text() == "the compile callback threw: no luck");
  const auto empty = cache.get_or_compile("k", []() -> expected<artifact> { return artifact{}; });
  CHECK(empty.error().code() == errc::invalid_value);
  CHECK(cache.get_or_compile("k", [] { return artifact::make("good"); })->payload() == "good");
}

TEST_CASE("a compile callback may use the cache and a cycle of leases is an error") {
  runtime rt(in_memory());
  const auto cache = rt.open("c").value();
  errc self_cycle{};
  const auto outer = cache.get_or_compile("outer", [&]() -> expected<artifact> {
    const auto inner = cache.get_or_compile("inner", [] { return artifact::make("in"); });
    const auto again = cache.get_or_compile("outer", [] { return artifact::make("never"); });
    self_cycle = again.error().code();
    return artifact::make("out of " + std::string(inner->payload()));
  });
  CHECK(outer->payload() == "out of in");
  CHECK(self_cycle == errc::lease_cycle);

  // Two threads each hold a lease that the other requests: one is refused, and both end.
  std::barrier both(2);
  std::atomic<int> cycles{0};
  const auto ring = [&](const char* mine, const char* other) {
    const auto made = cache.get_or_compile(mine, [&]() -> expected<artifact> {
      both.arrive_and_wait();
      const auto theirs = cache.get_or_compile(other, [&] { return artifact::make(other); });
      cycles += !theirs && theirs.error().code() == errc::lease_cycle;
      return artifact::make(mine);
    });
    CHECK(made);
  };
  std::jthread one([&] { ring("a", "b"); });
  ring("b", "a");
  one.join();
  CHECK(cycles == 1);
}

TEST_CASE("waiting for another caller's compile ends at the deadline") {
  runtime rt(in_memory());
  const auto cache = rt.open("c").value();
  std::promise<void> started;
  std::promise<void> finish;
  std::jthread slow([&] {
    CHECK(cache.get_or_compile("k", [&] {
      started.set_value();
      finish.get_future().wait();
      return artifact::make("late");
    }));
  });
  started.get_future().wait();
  const auto impatient = cache.get_or_compile(
      "k", [] { return artifact::make("never"); },
      call_options().within(std::chrono::milliseconds(1)));
  CHECK(impatient.error().code() == errc::timeout);
  finish.set_value();
  slow.join();
  CHECK(cache.get("k")->value.payload() == "late");
}

TEST_CASE("an asynchronous compile runs on its own thread") {
  runtime rt(in_memory());
  const auto cache = rt.open("c").value();
  std::thread::id compiled_on;
  auto made = cache.get_or_compile_async("k", [&]() -> expected<artifact> {
    compiled_on = std::this_thread::get_id();
    return artifact::make("binary");
  });
  CHECK(made.get()->payload() == "binary");
  CHECK(compiled_on != std::this_thread::get_id());
  CHECK(cache.get_or_compile_async("k", [] { return artifact::make("never"); }).ready());
}

TEST_CASE_FIXTURE(on_disk, "a store that cannot be used is left out and logged once") {
  auto bad = settings();
  bad.store = directory / "file";
  std::ofstream(bad.store) << "no directory";
  runtime rt(bad);
  CHECK_FALSE(rt.has_disk());
  CHECK(log.lines.size() == 1);
  const auto cache = rt.open("c").value();
  CHECK(cache.insert("k", artifact::make("v")));
  CHECK(cache.get("k")->from == tier::memory);
}

TEST_CASE("after shutdown handles answer closed and hits still serve") {
  auto rt = std::make_unique<runtime>(in_memory());
  const auto cache = rt->open("c").value();
  CHECK(cache.insert("k", artifact::make("v")));
  rt->shutdown();
  rt->shutdown();
  CHECK(cache.get("k")->value.payload() == "v");
  CHECK(cache.insert("x", artifact::make("v")).error().code() == errc::closed);
  CHECK(cache.get_or_compile("x", [] { return artifact::make("v"); }).error().code() ==
        errc::closed);
  rt.reset();
  CHECK(cache.erase("k").error().code() == errc::closed);
}

TEST_CASE("requests in flight are bounded and a caller may be refused") {
  runtime rt(refusing_beyond(1));
  const auto cache = rt.open("c").value();
  std::promise<void> started;
  std::promise<void> finish;
  std::jthread holder([&] {
    CHECK(cache.get_or_compile("k", [&] {
      started.set_value();
      finish.get_future().wait();
      return artifact::make("v");
    }));
  });
  started.get_future().wait();
  auto waits = cache.get_or_compile_async("k", [] { return artifact::make("never"); });
  CHECK(!waits.ready());
  CHECK(cache.insert("x", artifact::make("v")).error().code() == errc::overloaded);
  finish.set_value();
  holder.join();
  CHECK(waits.get()->payload() == "v");
}

TEST_CASE("the slot of a request is free when its answer arrives") {
  runtime rt(refusing_beyond(1));
  const auto cache = rt.open("c").value();
  for (int i = 0; i < 2000; ++i) {
    const auto key = "k" + std::to_string(i);
    REQUIRE(cache.insert(key, artifact::make("v")));
    REQUIRE(cache.erase(key));
    REQUIRE(cache.get_async(key).get());
  }
}

TEST_CASE("a write that is waited for needs no other thread of the runtime") {
  caf::actor_system_config host_config;
  add_message_types(host_config);
  host_config.set("scheduler.max-threads", std::size_t{1});
  caf::actor_system host(host_config);
  runtime rt(in_memory(), host);
  const auto cache = rt.open("c").value();
  REQUIRE(cache.insert("first", artifact::make("v")));
  const auto begun = std::make_shared<std::promise<void>>();
  std::promise<void> go_on;
  // CAF 0.17 has a null reference for a function without arguments.
  host.spawn(
      [](caf::event_based_actor* self, const std::shared_ptr<std::promise<void>>& has_begun,
         const std::shared_future<void>& may_go) -> caf::behavior {
        has_begun->set_value(); // the only worker has left the runtime's actors
        may_go.wait();
        self->quit();
        return {};
      },
      begun, go_on.get_future().share());
  begun->get_future().wait();
  auto stored = std::async(std::launch::async, [&] {
    return cache.insert("k", artifact::make("v")).has_value() &&
           cache.put("p", artifact::make("w")).has_value() && cache.erase("first").value_or(false);
  });
  CHECK(stored.wait_for(std::chrono::seconds(60)) == std::future_status::ready);
  go_on.set_value();
  CHECK(stored.get());
  CHECK(cache.get("p")->value.payload() == "w");
  CHECK_FALSE(cache.get("first")->hit());
}

TEST_CASE("the runtime lives in a host's actor system") {
  caf::actor_system_config host_config;
  add_message_types(host_config);
  caf::actor_system host(host_config);
  {
    runtime rt(in_memory(), host);
    const auto cache = rt.open("c").value();
    CHECK(cache.insert("k", artifact::make("v")));
    CHECK(cache.get("k")->hit());
  }
  CHECK(goes_down_to(host, 0));
}

TEST_CASE_FIXTURE(on_disk,
                  "in a fork's child hits serve and other calls are refused without a wait") {
  runtime rt(settings());
  const auto cache = rt.open("c").value();
  CHECK(cache.insert("k", artifact::make("v")));
  const auto child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const bool hit = cache.get("k")->hit();
    const auto refused = cache.insert("x", artifact::make("v"));
    const auto compiled = cache.get_or_compile("y", [] { return artifact::make("v"); });
    rt.shutdown();
    _exit(hit && !refused && refused.error().code() == errc::forked && !compiled ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(cache.insert("z", artifact::make("v")));
}

TEST_CASE_FIXTURE(on_disk, "the host's signals and locale are unchanged") {
  const auto dispositions = [] {
    std::vector<std::pair<sighandler_t, int>> all;
    for (int signal = 1; signal < SIGRTMIN; ++signal) {
      struct sigaction now {};
      sigaction(signal, nullptr, &now);
      all.emplace_back(now.sa_handler, now.sa_flags);
    }
    return all;
  };
  const auto before = dispositions();
  const std::string locale = std::setlocale(LC_ALL, nullptr);
  {
    runtime rt(settings());
    CHECK(rt.open("c")->insert("k", artifact::make("v")));
    CHECK(dispositions() == before);
    CHECK(std::setlocale(LC_ALL, nullptr) == locale);
  }
  CHECK(dispositions() == before);
}

TEST_CASE_FIXTURE(on_disk, "two runtimes over one store are two processes to each other") {
  runtime one(settings());
  runtime two(settings());
  const auto a = one.open("c").value();
  const auto b = two.open("c").value();
  std::promise<void> started;
  std::atomic<int> compiles{0};
  std::jthread first([&] {
    CHECK(a.get_or_compile("k", [&] {
      started.set_value();
      ++compiles;
      return artifact::make("binary");
    }));
  });
  started.get_future().wait();
  const auto other = b.get_or_compile("k", [&] {
    ++compiles;
    return artifact::make("binary");
  });
  CHECK(other->payload() == "binary");
  CHECK(compiles == 1);
  CHECK(b.put("k", artifact::make("new")));
  CHECK(a.get("k")->value.payload() == "new");
}

} // namespace runtime_test
