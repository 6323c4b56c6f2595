// What one host replaces or removes, the others do not serve: whole runtimes, each with its own
// store, over a real server.
#include "tests/support/local_redis.hpp"
#include "tests/support/runtimes.hpp"
#include "tests/support/temporary_directory.hpp"

#include "runtime/handle/runtime.hpp"
#include "storage/disk/change_journal.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace purges_test {

using namespace hearth;
using namespace hearth::test;

namespace {

struct host {
  explicit host(std::string server)
      : url(std::move(server)) {
    start();
  }
  void start() {
    auto settings = of_host(directory.path(), url);
    settings.scheduler_threads = 2;
    rt = std::make_unique<runtime>(std::move(settings));
    entries = std::make_unique<cache>(rt->open("c").value());
  }
  void stop() {
    entries.reset();
    rt->shutdown();
    rt.reset();
  }
  std::string get(const std::string& k) const {
    const auto found = entries->get(k).value();
    return found.hit() ? std::string(found.value.payload()) : "<miss>";
  }
  // Asks again until the entry is this one.
  bool comes_to(const std::string& k, const std::string& wanted) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (get(k) != wanted) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }

  std::string url;
  temporary_directory directory;
  std::unique_ptr<runtime> rt;
  std::unique_ptr<cache> entries;
};

} // namespace

TEST_CASE("purges: what one host erases is a miss on nine others, and on one that was stopped") {
  const local_redis redis;
  host maker(redis.url());
  REQUIRE(maker.entries->insert("k", artifact::make("poison")));
  std::vector<std::unique_ptr<host>> others;
  for (int i = 0; i < 9; ++i)
    others.push_back(std::make_unique<host>(redis.url()));
  host stopped(redis.url());
  for (const auto& one : others)
    REQUIRE(one->comes_to("k", "poison"));
  REQUIRE(stopped.comes_to("k", "poison"));
  stopped.stop();
  CHECK(maker.entries->erase("k").value());
  for (const auto& one : others)
    CHECK(one->comes_to("k", "<miss>"));
  stopped.start();
  CHECK(stopped.get("k") == "<miss>");
  CHECK(maker.get("k") == "<miss>");
  // It can be made anew.
  REQUIRE(others.front()->entries->insert("k", artifact::make("good")));
  CHECK(maker.comes_to("k", "good"));
}

TEST_CASE("purges: what one host puts replaces what others have") {
  const local_redis redis;
  host one(redis.url()), two(redis.url());
  REQUIRE(one.entries->put("k", artifact::make("first")));
  REQUIRE(two.comes_to("k", "first"));
  REQUIRE(one.entries->put("k", artifact::make("second")));
  CHECK(two.comes_to("k", "second"));
  CHECK(one.get("k") == "second");
  REQUIRE(two.entries->put("k", artifact::make("third")));
  CHECK(one.comes_to("k", "third"));
}

namespace {

// A server that comes back with what it had.
redis_setup that_remembers() {
  redis_setup setup;
  setup.arguments = {"--appendonly", "yes", "--appendfsync", "no"};
  return setup;
}

} // namespace

TEST_CASE(
    "purges: what was erased and put while the server was away holds, and reaches the fleet") {
  local_redis redis(that_remembers());
  host one(redis.url()), two(redis.url());
  for (const auto* k : {"erased", "put"}) {
    REQUIRE(one.entries->insert(k, artifact::make("old")));
    REQUIRE(two.comes_to(k, "old"));
  }
  redis.kill();
  CHECK(one.entries->erase("erased").value());
  CHECK(one.entries->put("put", artifact::make("new")));
  SUBCASE("by the process that made it") { redis.start(); }
  SUBCASE("by the next process of the host") {
    one.stop();
    redis.start();
    host three(redis.url());
    CHECK(three.comes_to("erased", "old")); // it cannot know
    one.start();
    CHECK(one.get("erased") == "<miss>");
    CHECK(three.comes_to("erased", "<miss>"));
  }
  SUBCASE("by the next process, when the store no longer has the value") {
    one.stop();
    auto settings = of_host(one.directory.path(), "");
    {
      runtime local(std::move(settings));
      CHECK(local.open("c").value().erase("put").value());
    }
    redis.start();
    one.start();
    CHECK(one.comes_to("put", "<miss>"));
    CHECK(two.comes_to("put", "<miss>"));
    return;
  }
  CHECK(one.comes_to("erased", "<miss>"));
  CHECK(one.get("put") == "new");
  CHECK(two.comes_to("erased", "<miss>"));
  CHECK(two.comes_to("put", "new"));
}

TEST_CASE("purges: more changes than are noted remove the cache from the server") {
  local_redis redis(that_remembers());
  host one(redis.url()), two(redis.url());
  REQUIRE(one.entries->insert("k", artifact::make("poison")));
  REQUIRE(two.comes_to("k", "poison"));
  auto other = one.rt->open("other").value();
  REQUIRE(other.insert("k", artifact::make("kept")));
  one.stop();
  redis.kill();
  one.start();
  CHECK(one.entries->erase("k").value());
  for (std::size_t i = 0; i <= storage::change_journal::max_changes; ++i)
    REQUIRE(one.entries->put(std::to_string(i), artifact::make("new")));
  one.stop();
  redis.start();
  one.start();
  CHECK(one.get("k") == "<miss>");
  CHECK(two.comes_to("k", "<miss>"));
  CHECK(one.entries->get("5").value().value.payload() == "new");
  CHECK(one.rt->open("other").value().get("k").value().value.payload() == "kept");
}

} // namespace purges_test
