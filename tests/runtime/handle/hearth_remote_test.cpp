// Hosts whose remote tier is a `hearth serve`: whole runtimes, each with its own store, over the
// real program, which is killed meanwhile.
#include "runtime/handle/runtime.hpp"
#include "storage/disk/change_journal.hpp"
#include "tests/support/local_redis.hpp"
#include "tests/support/running_server.hpp"
#include "tests/support/runtimes.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace hearth_remote_test {

using namespace hearth;
using namespace hearth::test;
using namespace std::chrono_literals;

namespace {

// A server at a socket that stays where it is when the server is started again.
struct served {
  served()
      : server({"--listen", "resp=unix:" + socket()}) {}
  std::string socket() const { return (place / "redis.sock").string(); }
  std::string url() const { return "hearth+unix://" + socket(); }
  void restart() {
    server.kill();
    server.start();
  }

  temporary_directory place;
  running_server server;
};

struct host {
  explicit host(std::string at)
      : url(std::move(at)) {
    start();
  }
  void start() {
    auto settings = of_host(directory.path(), url);
    settings.log = lines.callback();
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
    const auto end = std::chrono::steady_clock::now() + 120s;
    while (get(k) != wanted) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }
  std::size_t lines_with(const std::string& part) {
    const std::lock_guard lock(lines.mutex);
    return static_cast<std::size_t>(
        std::count_if(lines.lines.begin(), lines.lines.end(),
                      [&](const auto& line) { return line.find(part) != std::string::npos; }));
  }

  std::string url;
  temporary_directory directory;
  log_lines lines;
  std::unique_ptr<runtime> rt;
  std::unique_ptr<cache> entries;
};

} // namespace

TEST_CASE("hearth remote: puts and erases reach hosts that run and one that was stopped") {
  served at;
  host maker(at.url()), other(at.url()), stopped(at.url());
  REQUIRE(maker.entries->insert("k", artifact::make("poison")));
  REQUIRE(maker.entries->insert("p", artifact::make("old")));
  for (auto* one : {&other, &stopped}) {
    REQUIRE(one->comes_to("k", "poison"));
    REQUIRE(one->comes_to("p", "old"));
  }
  stopped.stop();
  CHECK(maker.entries->erase("k").value());
  REQUIRE(maker.entries->put("p", artifact::make("new")));
  CHECK(other.comes_to("k", "<miss>"));
  CHECK(other.comes_to("p", "new"));
  stopped.start();
  CHECK(stopped.get("k") == "<miss>");
  CHECK(stopped.get("p") == "new");
  // It can be made anew: the insert finds the mark of the erase, and a script replaces that.
  REQUIRE(other.entries->insert("k", artifact::make("good")));
  CHECK(maker.comes_to("k", "good"));
  for (auto* one : {&maker, &other, &stopped})
    CHECK(one->lines_with("purges by other hosts are not heard") == 0);
}

TEST_CASE("hearth remote: a killed server has lost nothing that it acknowledged") {
  served at;
  host maker(at.url()), stopped(at.url());
  REQUIRE(maker.entries->insert("k", artifact::make("poison")));
  REQUIRE(stopped.comes_to("k", "poison"));
  stopped.stop();
  CHECK(maker.entries->erase("k").value());
  maker.stop(); // it has told the server
  for (int i = 0; i < 3; ++i)
    at.restart();
  maker.start();
  stopped.start();
  CHECK(stopped.get("k") == "<miss>");
  // Hosts go on with the server that was started again, and hear what is erased from then on.
  REQUIRE(maker.entries->insert("l", artifact::make("1")));
  REQUIRE(stopped.comes_to("l", "1"));
  at.restart();
  CHECK(maker.entries->erase("l").value());
  CHECK(stopped.comes_to("l", "<miss>"));
}

TEST_CASE("hearth remote: more changes than are noted remove the cache from the server") {
  served at;
  host one(at.url()), two(at.url());
  REQUIRE(one.entries->insert("k", artifact::make("poison")));
  REQUIRE(two.comes_to("k", "poison"));
  auto other = one.rt->open("other").value();
  REQUIRE(other.insert("k", artifact::make("kept")));
  one.stop();
  at.server.kill();
  one.start();
  CHECK(one.entries->erase("k").value());
  for (std::size_t i = 0; i <= storage::change_journal::max_changes; ++i)
    REQUIRE(one.entries->put(std::to_string(i), artifact::make("new")));
  one.stop();
  at.server.start();
  one.start();
  CHECK(one.get("k") == "<miss>");
  CHECK(two.comes_to("k", "<miss>"));
  CHECK(one.get("5") == "new");
  CHECK(one.rt->open("other").value().get("k").value().value.payload() == "kept");
}

TEST_CASE("hearth remote: of hosts that want one entry, one makes it for all") {
  served at;
  constexpr int count = 6;
  std::vector<std::unique_ptr<host>> hosts;
  for (int i = 0; i < count; ++i)
    hosts.push_back(std::make_unique<host>(at.url()));
  std::atomic<int> made{0}, waiting{0};
  std::vector<std::jthread> threads;
  for (const auto& one : hosts)
    threads.emplace_back([&, &entries = *one->entries] {
      ++waiting;
      while (waiting != count)
        std::this_thread::yield();
      const auto got = entries.get_or_compile("k", [&]() -> expected<artifact> {
        ++made;
        return artifact::make("value");
      });
      CHECK(got.value().payload() == "value");
    });
  threads.clear();
  CHECK(made == 1);
  // A lease is given back after a failure: the next host does not wait for its end.
  const auto failed = hosts[0]->entries->get_or_compile(
      "bad", []() -> expected<artifact> { return fail(errc::compile_failed, "on purpose"); });
  CHECK_FALSE(failed);
  const auto next = hosts[1]->entries->get_or_compile(
      "bad", []() -> expected<artifact> { return artifact::make("good"); });
  CHECK(next.value().payload() == "good");
  for (const auto& one : hosts)
    CHECK(one->lines_with("runs no scripts") == 0);
}

TEST_CASE("hearth remote: a Redis is no hearth serve, and one line says so") {
  const local_redis redis;
  host one("hearth+unix://" + redis.socket().string());
  REQUIRE(one.entries->insert("k", artifact::make("v")));
  CHECK(one.get("other") == "<miss>");
  one.stop();
  CHECK(one.lines_with("the server is no hearth serve that can be a remote tier; to a Redis or "
                       "Valkey say redis://") == 1);
  CHECK(redis.eval("return redis.call('DBSIZE')") == 0);
}

TEST_CASE("hearth remote: hosts of a pull request share among themselves and change nothing") {
  const temporary_directory place;
  const auto trusted_socket = (place / "trusted.sock").string();
  const auto pull_socket = (place / "pull.sock").string();
  std::ofstream(place / "serve.toml")
      << "[[listen]]\naddress = \"unix:" << trusted_socket << "\"\nanonymous = \"writer\"\n"
      << "[[listen]]\naddress = \"unix:" << pull_socket
      << "\"\nanonymous = \"writer\"\nanonymous_namespace = \"pull\"\n";
  running_server server({(place / "serve.toml").string()});
  host trusted("hearth+unix://" + trusted_socket), other("hearth+unix://" + trusted_socket);
  host one("hearth+unix://" + pull_socket), two("hearth+unix://" + pull_socket);
  REQUIRE(trusted.entries->insert("k", artifact::make("good")));
  REQUIRE(one.comes_to("k", "good"));
  REQUIRE(two.comes_to("k", "good"));
  REQUIRE(one.entries->put("k", artifact::make("evil")));
  CHECK(two.comes_to("k", "evil"));
  one.stop(); // all is sent
  CHECK(other.get("k") == "good");
  CHECK(trusted.get("k") == "good");
  // What the trusted namespace removes, the others hear of too.
  REQUIRE(trusted.entries->insert("m", artifact::make("1")));
  REQUIRE(two.comes_to("m", "1"));
  CHECK(trusted.entries->erase("m").value());
  CHECK(two.comes_to("m", "<miss>"));
}

TEST_CASE("hearth remote: a server behind a server") {
  served behind;
  const auto serve = [&](const temporary_directory& in) {
    return std::vector<std::string>{
        "--listen",          "resp=unix:" + (in / "redis.sock").string(),
        "--remote",          behind.url(),
        "--remote-deadline", "10s"};
  };
  const temporary_directory one, two;
  {
    const running_server first(serve(one));
    host maker("hearth+unix://" + (one / "redis.sock").string());
    REQUIRE(maker.entries->insert("k", artifact::make("v")));
    maker.stop();
  } // it ends when its upstream has what it wrote
  const running_server second(serve(two));
  host reader("hearth+unix://" + (two / "redis.sock").string());
  CHECK(reader.get("k") == "v");
}

} // namespace hearth_remote_test
