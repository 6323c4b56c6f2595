// Whole runtimes over two real servers, one behind the other, and hosts that know only one of them.
#include "tests/support/local_redis.hpp"
#include "tests/support/runtimes.hpp"
#include "tests/support/temporary_directory.hpp"

#include "runtime/api/remote_urls.hpp"
#include "runtime/handle/runtime.hpp"

#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace remote_chain_runtime_test {

using namespace hearth;
using namespace hearth::test;
using namespace std::chrono_literals;

namespace {

// A host, whose store outlives its processes.
struct host {
  explicit host(std::vector<std::string> servers)
      : urls(std::move(servers)) {}
  config settings() const {
    auto made = of_host(directory.path(), {});
    made.remote = remotes_at(urls, made.remote);
    return made;
  }
  // Runs one process of this host, which ends with all its writes told.
  void run(const std::function<void(runtime&, cache&)>& work,
           const std::function<void(config&)>& adapt = {}) const {
    auto adapted = settings();
    if (adapt) adapt(adapted);
    runtime rt(adapted);
    auto entries = rt.open("c").value();
    work(rt, entries);
    rt.shutdown();
    last = rt.stats().remote.value();
  }
  void insert(const std::string& k, const std::string& payload) const {
    run([&](runtime&, cache& in) { CHECK(in.insert(k, artifact::make(payload))); });
  }
  std::string get(const std::string& k) const {
    std::string found = "nothing";
    run([&](runtime&, cache& in) {
      const auto one = in.get(k).value();
      if (one.hit()) found = std::string(one.value.payload());
    });
    return found;
  }
  void erase(const std::string& k) const {
    run([&](runtime&, cache& in) { CHECK(in.erase(k)); });
  }

  temporary_directory directory;
  std::vector<std::string> urls;
  mutable remote_tier_stats last; // of the last process, at its end
};

struct two_servers {
  local_redis near, far;
  host both{{near.url(), far.url()}};
  host only_near{{near.url()}};
  host only_far{{far.url()}};
};

// Waits for what another thread brings about, at most two minutes.
template <class Condition>
bool comes_true(Condition holds) {
  const auto end = std::chrono::steady_clock::now() + 2min;
  while (!holds() && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  return holds();
}

} // namespace

TEST_CASE_FIXTURE(two_servers, "remote tiers: a hit of the far one is kept in the near one") {
  only_far.insert("k", "of far");
  CHECK(only_near.get("k") == "nothing");
  CHECK(both.get("k") == "of far");
  REQUIRE(both.last.each.size() == 2);
  CHECK(both.last.each[0].caches.front().puts == 1);
  CHECK(both.last.each[1].caches.front().hits == 1);
  CHECK(both.last.name == near.url() + " " + far.url());
  CHECK(only_near.get("k") == "of far");
}

TEST_CASE_FIXTURE(two_servers, "remote tiers: an insert reaches the hosts that know one of them") {
  both.insert("k", "value");
  CHECK(only_near.get("k") == "value");
  CHECK(only_far.get("k") == "value");
}

TEST_CASE_FIXTURE(two_servers, "remote tiers: an erase reaches the hosts that know one of them") {
  both.insert("k", "value");
  CHECK(only_near.get("k") == "value");
  CHECK(only_far.get("k") == "value");
  both.erase("k");
  CHECK(only_near.get("k") == "nothing");
  CHECK(only_far.get("k") == "nothing");
  CHECK(both.get("k") == "nothing");
}

TEST_CASE_FIXTURE(two_servers,
                  "remote tiers: an erase heard from the far one goes on to the near one") {
  both.insert("k", "value");
  CHECK(only_near.get("k") == "value");
  CHECK(only_far.get("k") == "value");
  only_far.erase("k");
  CHECK(both.get("k") == "nothing");
  CHECK(only_near.get("k") == "nothing");
  const host newcomer({near.url()});
  CHECK(newcomer.get("k") == "nothing");
}

TEST_CASE_FIXTURE(two_servers,
                  "remote tiers: a put that tells both is not undone in the near one") {
  both.insert("k", "old");
  const host other({near.url(), far.url()});
  CHECK(other.get("k") == "old");
  other.run([](runtime&, cache& in) { CHECK(in.put("k", artifact::make("new"))); });
  CHECK(both.get("k") == "new");
  CHECK(both.last.each[0].purges_heard == 1);
  CHECK(both.last.each[1].purges_heard == 1);
  CHECK(only_near.get("k") == "new"); // nobody erased it there after the put
}

TEST_CASE_FIXTURE(two_servers,
                  "remote tiers: what one of them has not heard, it is told when it is back") {
  both.insert("k", "value");
  CHECK(only_near.get("k") == "value");
  near.freeze();
  both.run([](runtime&, cache& in) { CHECK(in.erase("k")); },
           [](config& settings) {
             settings.remote.deadline = 100ms;
             settings.remote.drain_deadline = 100ms;
           });
  CHECK(both.last.each[1].unheard == 0);
  CHECK(only_far.get("k") == "nothing");
  near.thaw();
  CHECK(both.get("k") == "nothing"); // and its process tells the near server
  CHECK(only_near.get("k") == "nothing");
}

TEST_CASE_FIXTURE(two_servers,
                  "remote tiers: the near one is killed, and filled again when it is back") {
  only_far.insert("k", "value");
  only_far.insert("later", "value too");
  near.kill();
  runtime rt(both.settings());
  const auto entries = rt.open("c").value();
  CHECK(entries.get("k")->from == tier::remote);
  CHECK(rt.stats().remote->each[0].state != "closed");
  CHECK(rt.stats().remote->each[1].state == "closed");
  near.start();
  CHECK(comes_true([&] { return rt.stats().remote->each[0].state == "closed"; }));
  CHECK(entries.get("later")->from == tier::remote);
  rt.shutdown();
  CHECK(only_near.get("later") == "value too");
  CHECK(only_near.get("k") == "value"); // the write waited for the server
}

TEST_CASE_FIXTURE(two_servers, "remote tiers: a far one that stalls costs no hit of the near one") {
  only_near.insert("k", "value");
  far.freeze();
  auto settings = both.settings();
  settings.remote.farther.front().deadline = 100ms;
  settings.remote.farther.front().drain_deadline = 100ms;
  runtime rt(settings);
  const auto entries = rt.open("c").value();
  CHECK(entries.get("k")->from == tier::remote);
  CHECK(entries.get("nothing")->is_unanswered);
  CHECK(comes_true([&] { return rt.stats().remote->each[1].openings != 0; }));
  const auto stats = rt.stats().remote.value();
  CHECK(stats.each[0].state == "closed");
  CHECK(stats.each[0].openings == 0);
  CHECK(entries.insert("new", artifact::make("new")));
  rt.shutdown();
  far.thaw();
  CHECK(only_near.get("new") == "new");
}

TEST_CASE_FIXTURE(two_servers, "remote tiers: hosts that share only the far one compile once") {
  const local_redis other_near;
  const host other({other_near.url(), far.url()});
  runtime first(both.settings()), second(other.settings());
  const auto one = first.open("c").value(), two = second.open("c").value();
  std::atomic<int> compiles{0};
  std::future<expected<artifact>> waiting;
  const auto made = one.get_or_compile("k", [&]() -> expected<artifact> {
    ++compiles;
    waiting = std::async(std::launch::async, [&] {
      return two.get_or_compile("k", [&]() -> expected<artifact> {
        ++compiles;
        return artifact::make("of the second");
      });
    });
    CHECK(comes_true([&] { return second.stats().remote->leases_elsewhere != 0; }));
    return artifact::make("of the first");
  });
  REQUIRE(made);
  const auto found = waiting.get();
  REQUIRE(found);
  CHECK(found->payload() == "of the first");
  CHECK(compiles == 1);
  CHECK(first.stats().remote->each[1].leases_granted == 1);
  CHECK(first.stats().remote->each[0].leases_granted == 0);
}

TEST_CASE_FIXTURE(two_servers, "remote tiers: each has caches and a mode of its own") {
  both.run(
      [](runtime& rt, cache& in) {
        CHECK(in.insert("k", artifact::make("value")));
        CHECK(rt.open("other").value().insert("k", artifact::make("value too")));
      },
      [](config& settings) {
        settings.remote.caches = {"other"};
        settings.remote.farther.front().caches = {"c"};
      });
  CHECK(only_near.get("k") == "nothing");
  CHECK(only_far.get("k") == "value");
  const auto other_at = [](const host& at) {
    bool is_there = false;
    at.run([&](runtime& rt, cache&) { is_there = rt.open("other")->get("k")->hit(); });
    return is_there;
  };
  CHECK(other_at(only_near));
  CHECK_FALSE(other_at(only_far));
  both.run([](runtime&, cache& in) { CHECK(in.erase("k")); },
           [](config& settings) { settings.remote.farther.front().mode = remote_mode::read_only; });
  CHECK(only_far.get("k") == "value");
}

TEST_CASE_FIXTURE(two_servers, "remote tiers: one that cannot be used leaves the others") {
  only_far.insert("k", "value");
  auto settings = both.settings();
  settings.remote.url = "ftp://nowhere";
  runtime rt(settings);
  CHECK(rt.has_remote());
  CHECK_FALSE(rt.remote_problem().text().empty());
  CHECK(rt.open("c")->get("k")->from == tier::remote);
}

} // namespace remote_chain_runtime_test
