// Entries that grow on several hosts, each with its own store, over a real server.
#include "runtime/caches/graphs/graph_cache.hpp"
#include "runtime/caches/nested/nested_cache.hpp"
#include "runtime/handle/runtime.hpp"
#include "tests/support/files.hpp"
#include "tests/support/local_cluster.hpp"
#include "tests/support/local_redis.hpp"
#include "tests/support/running_server.hpp"
#include "tests/support/runtimes.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

namespace fleet_sets_test {

using namespace hearth;
using namespace hearth::test;

namespace {

// A host with a runtime, which `settle` ends and begins anew: then the server has what it wrote.
struct host {
  explicit host(std::string server)
      : url(std::move(server)) {
    begin();
  }
  void begin() {
    auto settings = of_host(directory.path(), url);
    settings.log = [](log_level, std::string_view) {};
    if (!key_line.empty()) {
      settings.remote.signing_key_file = directory / "keys";
      write_text(settings.remote.signing_key_file, key_line);
      std::filesystem::permissions(settings.remote.signing_key_file,
                                   std::filesystem::perms::owner_read |
                                       std::filesystem::perms::owner_write);
    }
    rt = std::make_unique<runtime>(std::move(settings));
    graph_cache_options options;
    options.folder = directory / "folder";
    graphs = std::make_unique<graph_cache>(*graph_cache::open(*rt, options));
    tree = std::make_unique<nested_cache>(*nested_cache::open(*rt, "tuning", key("system")));
  }
  void settle() {
    rt->shutdown();
    graphs.reset();
    tree.reset();
    begin();
  }
  void add(const std::string& guard, const std::string& payload) const {
    CHECK(*graphs->insert(key("graph"), *graphs->begin("source"), payload, guard) ==
          insert_outcome::inserted);
  }
  // The payload that is found, or the kind of the miss.
  std::string find(std::int64_t size) const {
    const auto reply = graphs->get(key("graph"), {{"s0", size}});
    REQUIRE(reply);
    return reply->hit() ? std::string(reply->entry.payload())
                        : std::string(to_string(reply->status));
  }
  std::optional<value> at(const std::string& name) const { return *tree->lookup({name}); }

  temporary_directory directory;
  std::string url;
  std::string key_line; // of the file of signing keys; empty: not signed
  std::unique_ptr<runtime> rt;
  std::unique_ptr<graph_cache> graphs;
  std::unique_ptr<nested_cache> tree;
};

} // namespace

TEST_CASE("a variant that one host adds is found by a host that has looked before") {
  const local_redis redis;
  host a(redis.url()), b(redis.url());
  a.add("s0 > 4", "large");
  a.settle();
  CHECK(b.find(8) == "large");
  CHECK(b.find(2) == "guard_miss");
  a.add("s0 <= 4", "small");
  a.settle();
  CHECK(b.find(2) == "small");
  CHECK(b.find(8) == "large");
}

TEST_CASE("variants that two hosts add to one list are all found by a third") {
  const local_redis redis;
  host a(redis.url()), b(redis.url()), c(redis.url());
  a.add("s0 == 1", "one");
  a.settle();
  CHECK(b.find(1) == "one");
  a.add("s0 == 2", "two");
  b.add("s0 == 3", "three");
  a.settle();
  b.settle();
  for (const auto* each : {&a, &b, &c}) {
    CHECK(each->find(1) == "one");
    CHECK(each->find(2) == "two");
    CHECK(each->find(3) == "three");
    CHECK(each->find(4) == "guard_miss");
  }
}

TEST_CASE("values that two hosts set in one tree are all found, and the later one of a path") {
  const local_redis redis;
  host a(redis.url()), b(redis.url()), c(redis.url());
  REQUIRE(a.tree->set({"one"}, 1));
  REQUIRE(b.tree->set({"two"}, 2));
  a.settle();
  b.settle();
  CHECK(c.at("one") == value(1));
  CHECK(c.at("two") == value(2));
  REQUIRE(b.tree->set({"same"}, "first"));
  b.settle();
  REQUIRE(a.tree->set({"same"}, "a later one"));
  a.settle();
  CHECK(c.at("same") == value("a later one"));
  CHECK_FALSE(b.at("none"));
  CHECK(b.at("same") == value("a later one"));
}

TEST_CASE("what grows is shared by the hosts of a cluster") {
  const local_cluster cluster;
  host a(cluster.url()), b(cluster.url()), c(cluster.url());
  a.add("s0 == 1", "one");
  b.add("s0 == 2", "two");
  REQUIRE(a.tree->set({"one"}, 1));
  REQUIRE(b.tree->set({"two"}, 2));
  a.settle();
  b.settle();
  for (const auto* one : {&a, &b, &c}) {
    CHECK(one->find(1) == "one");
    CHECK(one->find(2) == "two");
    CHECK(one->at("one") == value(1));
    CHECK(one->at("two") == value(2));
  }
}

TEST_CASE("what grows is shared by the hosts of a hearth serve, and survives its kill") {
  const temporary_directory place;
  const auto socket = (place / "redis.sock").string();
  running_server server({"--listen", "resp=unix:" + socket});
  const auto url = "hearth+unix://" + socket;
  host a(url), b(url), c(url);
  a.add("s0 == 1", "one");
  b.add("s0 == 2", "two");
  REQUIRE(a.tree->set({"one"}, 1));
  REQUIRE(b.tree->set({"two"}, 2));
  a.settle();
  b.settle();
  server.kill();
  server.start();
  for (auto* one : {&b, &c})
    one->settle(); // one that was running may go without the server for a moment
  CHECK(c.find(1) == "one");
  CHECK(c.find(2) == "two");
  CHECK(c.at("one") == value(1));
  CHECK(c.at("two") == value(2));
  REQUIRE(b.tree->set({"one"}, "a later one"));
  b.settle();
  host d(url);
  CHECK(d.at("one") == value("a later one"));
  // What a later member replaced is gone from the hash (HDEL), and what has a TTL too (EVAL).
  d.settle();
  CHECK(d.at("two") == value(2));
}

TEST_CASE("a member that is not signed, or by another key, is not taken") {
  const local_redis redis;
  const auto signed_host = [&](const std::string& id, char digit) {
    auto one = std::make_unique<host>(redis.url());
    one->key_line = id + " " + std::string(64, digit) + "\n";
    one->settle();
    return one;
  };
  host plain(redis.url());
  REQUIRE(plain.tree->set({"plain"}, 1));
  plain.settle();
  const auto one = signed_host("k1", 'a');
  REQUIRE(one->tree->set({"one"}, 1));
  one->settle();
  const auto same = signed_host("k1", 'a'), other = signed_host("k2", 'b');
  CHECK(same->at("one") == value(1));
  CHECK_FALSE(same->at("plain"));
  CHECK_FALSE(other->at("one"));
}

TEST_CASE("what a host of the form before sets puts takes no variant away") {
  const local_redis redis;
  host a(redis.url()), b(redis.url()), c(redis.url());
  a.add("s0 == 1", "one");
  a.settle();
  CHECK(b.find(1) == "one");
  const temporary_directory directory;
  runtime old(of_host(directory.path(), redis.url()));
  const auto cache = old.open(graph_cache_options{}.name).value();
  // Its list, which is another entry, and a value under the key of the set.
  REQUIRE(cache.put(key::tuple({"graph", "variants"}), artifact::make("its own list")));
  REQUIRE(cache.put(key::tuple({"graph", "variant set"}), artifact::make("no set")));
  old.shutdown();
  CHECK(redis.eval("local all, members = redis.call('KEYS', '*:set'), 0 for _, name in ipairs(all) "
                   "do members = members + redis.call('HLEN', name) end return members") == 1);
  b.settle();
  CHECK(b.find(1) == "one");
  CHECK(c.find(1) == "one");
  b.add("s0 == 2", "two");
  b.settle();
  CHECK(c.find(2) == "two");
  CHECK(a.find(2) == "two");
}

} // namespace fleet_sets_test
