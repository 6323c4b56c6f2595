// Whole runtimes, each with its own store as on another host, over a real server.
#include "runtime/engine/core.hpp"
#include "storage/remote/entry_names.hpp"
#include "storage/remote/envelope.hpp"
#include "storage/remote/purge_log.hpp"
#include "tests/support/asker.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/fault_proxy.hpp"
#include "tests/support/local_redis.hpp"
#include "tests/support/runtimes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <pthread.h>
#include <random>
#include <stdexcept>
#include <string_view>

namespace remote_tier_test {

using namespace hearth;
using namespace hearth::test;

namespace {

// A runtime on its own host.
struct host {
  explicit host(const std::string& url, const std::function<void(config&)>& adapt = {}) {
    auto settings = of_host(directory.path(), url);
    settings.log = [this](log_level, std::string_view text) {
      const std::lock_guard lock(mutex);
      lines.emplace_back(text);
      changed.notify_all();
    };
    if (adapt) adapt(settings);
    rt = std::make_unique<runtime>(std::move(settings));
    entries = std::make_unique<cache>(rt->open("c").value());
  }
  // Waits until the log contains `part` this many times.
  void wait_for_log(const std::string& part, std::size_t times = 1) {
    std::unique_lock lock(mutex);
    const bool came = changed.wait_for(lock, std::chrono::seconds(120), [&] {
      std::size_t found = 0;
      for (const auto& line : lines)
        found += line.find(part) != std::string::npos;
      return found >= times;
    });
    REQUIRE_MESSAGE(came, "nothing logged with: " << part);
  }
  lookup get(const std::string& k) { return entries->get(k).value(); }
  void insert(const std::string& k, const std::string& payload) {
    REQUIRE(entries->insert(k, artifact::make(payload)));
  }
  remote_tier_stats stats() { return rt->stats().remote.value(); }
  remote_cache_counts counts() {
    for (const auto& one : stats().caches)
      if (one.cache == "c") return one;
    return {};
  }

  temporary_directory directory;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> lines;
  std::unique_ptr<runtime> rt;
  std::unique_ptr<cache> entries;
};

// Writes entries on one host and returns when the server has all of them.
void fill(const std::string& url, int count, const std::function<void(config&)>& adapt = {}) {
  host one(url, adapt);
  for (int i = 0; i < count; ++i)
    one.insert("k" + std::to_string(i), "payload " + std::to_string(i));
  one.rt->shutdown();
  CHECK(one.counts().puts == static_cast<std::uint64_t>(count));
}

std::string name_in_server(const std::string& k) {
  const auto id = cache_id::make("c").value();
  const auto cache = std::make_shared<const named_cache>(named_cache{id, 0, id.seed()});
  return storage::remote_entry_name({}, {cache, key(k).encoded()});
}

} // namespace

TEST_CASE(
    "entries that one host wrote are found by another in the remote tier, then in its own tiers") {
  const local_redis redis;
  fill(redis.url(), 3);
  host other(redis.url());
  const auto found = other.get("k0");
  CHECK(found.from == tier::remote);
  CHECK(found.value.payload() == "payload 0");
  // The disk stores the entry after the answer was sent; later requests to the disk wait for it.
  CHECK(*other.entries->insert("k0", artifact::make("late")) == insert_outcome::exists);
  CHECK(other.get("k0").from != tier::remote);
  CHECK_FALSE(other.get("nothing").hit());
  CHECK(other.entries->get_async("k1").get()->from == tier::remote);
  const std::vector<key> keys{key("k0"), key("k2"), key("nothing")};
  const auto many = other.entries->get_many(keys);
  CHECK(many[0]->value.payload() == "payload 0");
  CHECK(many[1]->from == tier::remote);
  CHECK_FALSE(many[2]->hit());
  CHECK(other.counts().hits == 3);
  CHECK(other.counts().misses == 2);
}

TEST_CASE("a hit in the remote tier reports the time that it saved") {
  const local_redis redis;
  {
    host one(redis.url());
    for (const auto* k : {"k0", "k1", "k2", "k3"})
      REQUIRE(one.entries->insert(k, artifact::make("code", {{"time_taken_ns", 1'000'000'000}})));
  }
  host other(redis.url());
  std::atomic<int> told{0};
  const auto cache =
      other.rt->open("c", cache_options().telling_time_saved([&](auto, auto) { ++told; })).value();
  using namespace std::chrono_literals;
  CHECK(cache.get("k0")->time_saved() == 1s);
  CHECK(cache.get_async("k1").get()->time_saved() == 1s);
  const std::vector<key> keys{"k2"};
  CHECK(cache.get_many_async(keys).get()->front()->time_saved() == 1s);
  CHECK(cache.get_or_compile("k3", [] { return artifact::make("never"); })->payload() == "code");
  CHECK(cache.time_saved() == 4s);
  CHECK(told.load() == 4);
  CHECK(other.counts().hits == 4);
}

TEST_CASE(
    "get_or_compile compiles once in a fleet and the entry is found on other hosts afterwards") {
  const local_redis redis;
  int compiles = 0;
  const auto compile = [&]() -> expected<artifact> {
    ++compiles;
    return artifact::make("code");
  };
  host one(redis.url());
  host other(redis.url());
  CHECK(one.entries->get_or_compile("k", compile)->payload() == "code");
  CHECK(other.entries->get_or_compile("k", compile)->payload() == "code");
  CHECK(compiles == 1);
}

TEST_CASE("put and erase reach the other hosts behind the answer") {
  const local_redis redis;
  fill(redis.url(), 2);
  {
    host one(redis.url());
    CHECK(one.entries->put("k0", artifact::make("new")));
    CHECK(one.entries->erase("k1"));
    CHECK_FALSE(one.get("k1").hit());
  }
  host other(redis.url());
  CHECK(other.get("k0").value.payload() == "new");
  CHECK_FALSE(other.get("k1").hit());
}

TEST_CASE("an entry replayed into another cache or with other metadata is a miss") {
  const local_redis redis;
  {
    host one(redis.url());
    const auto trusted = one.rt->open("trusted").value();
    CHECK(trusted.insert("k", artifact::make("code", value::map{{"guard", "m > 1"}})));
    CHECK(one.entries->insert("k", artifact::make("poison", value::map{{"guard", "True"}})));
  }
  const auto raw = connected(redis.url());
  const auto name = name_in_server("k");
  auto trusted_name = name;
  trusted_name.replace(trusted_name.find(":c:"), 3, ":trusted:");
  const auto honest = ask(*raw, {"GET", trusted_name}).value.text;
  REQUIRE(is_ok(ask(*raw, {"SET", trusted_name, ask(*raw, {"GET", name}).value.text})));
  host replayed(redis.url());
  CHECK_FALSE(replayed.rt->open("trusted")->get("k")->hit());
  auto changed = honest;
  changed.replace(changed.find("m > 1"), 5, "m > 0");
  REQUIRE(is_ok(ask(*raw, {"SET", trusted_name, changed})));
  host other(redis.url());
  CHECK_FALSE(other.rt->open("trusted")->get("k")->hit());
  REQUIRE(is_ok(ask(*raw, {"SET", trusted_name, honest})));
  host third(redis.url());
  CHECK(third.rt->open("trusted")->get("k")->from == tier::remote);
  raw->close();
}

TEST_CASE("entries that were tampered with are misses and counted") {
  const local_redis redis;
  temporary_directory keys;
  const auto key_file = keys / "keys";
  std::ofstream(key_file) << "k1 " << std::string(64, 'a') << "\n";
  const auto sign = [&](config& settings) { settings.remote.signing_key_file = key_file; };
  fill(redis.url(), 5, sign);
  const auto raw = connected(redis.url());
  const auto bytes_of = [&](const std::string& k) {
    return ask(*raw, {"GET", name_in_server(k)}).value.text;
  };
  const auto replace = [&](const std::string& k, const std::string& bytes) {
    CHECK(is_ok(ask(*raw, {"SET", name_in_server(k), bytes})));
  };
  auto flipped = bytes_of("k0");
  flipped.back() ^= 1; // in the payload
  replace("k0", flipped);
  replace("k1", bytes_of("k2")); // the entry of another key
  const auto id = cache_id::make("c").value();
  named_cache as_open{id, 0, id.seed()};
  const cache_key unsigned_key(std::make_shared<const named_cache>(as_open), key("k3").encoded());
  replace("k3", storage::seal_envelope(unsigned_key, artifact::make("poison"), {}));
  as_open.sign = true;
  const cache_key forged_key(std::make_shared<const named_cache>(as_open), key("k4").encoded());
  replace("k4", storage::seal_envelope(forged_key, artifact::make("poison"),
                                       {{"k1", std::string(32, 'x')}}));
  host other(redis.url(), sign);
  for (const auto* k : {"k0", "k1", "k3", "k4"})
    CHECK_FALSE(other.get(k).hit());
  CHECK(other.get("k2").from == tier::remote);
  auto failures = other.counts().failures;
  CHECK(failures["unsigned"] == 1);
  CHECK(failures["forged"] == 1);
  CHECK(failures["damaged"] == 2);
  CHECK(other.stats().openings == 0);
  // The new entry replaces the forged one for all hosts.
  other.insert("k4", "good");
  other.rt->shutdown();
  host third(redis.url(), sign);
  CHECK(third.get("k4").value.payload() == "good");
  raw->close();
}

namespace {

struct fault {
  const char* name;
  std::function<void(fault_proxy&)> begin;
};

const std::vector<fault>& faults() {
  static const std::vector<fault> all{
      {"refused", [](fault_proxy& p) { p.set(proxy_fault::refuse); }},
      {"black hole", [](fault_proxy& p) { p.set(proxy_fault::black_hole); }},
      {"a byte a second", [](fault_proxy& p) { p.set(proxy_fault::drip); }},
      {"garbage", [](fault_proxy& p) { p.garbage(); }},
      {"giant length", [](fault_proxy& p) { p.giant_length(); }},
      {"LOADING", [](fault_proxy& p) { p.error("LOADING Redis is loading the dataset"); }},
      {"AUTH refused", [](fault_proxy& p) { p.error("WRONGPASS invalid password"); }},
  };
  return all;
}

} // namespace

TEST_CASE("a coroutine resumes where the remote tier's answers arrive, unless one is large") {
  const local_redis redis;
  {
    host writer(redis.url());
    writer.insert("small", "1");
    std::string noise(std::size_t{2} << 20, '\0'); // which no codec makes smaller
    std::generate(noise.begin(), noise.end(), std::mt19937(1));
    writer.insert("large", noise);
  }
  config settings;
  settings.jobs = 1;
  settings.remote.url = redis.url();
  settings.remote.deadline = std::chrono::seconds(10);
  runtime reader(settings);
  const auto entries = reader.open("c", cache_options().without_memory().without_disk()).value();
  // How many of so many lookups resume the coroutine there.
  const auto times_there = [&](const char* wanted, int times) {
    std::promise<int> answer;
    [](const cache& c, key k, int left, std::promise<int>& seen) -> task {
      int there = 0;
      for (; left > 0; --left) {
        const auto found = co_await c.get_async(k);
        if (!found || found->from != tier::remote) break;
        char thread[16] = {};
        ::pthread_getname_np(::pthread_self(), thread, sizeof thread);
        there += std::string_view(thread) == "hearth-remote";
      }
      seen.set_value(left == 0 ? there : -1);
    }(entries, wanted, times, answer);
    return answer.get_future().get();
  };
  CHECK(times_there("small", 1000) > 0); // not every time: an actor may still run on another thread
  CHECK(times_there("large", 10) == 0);
}

TEST_CASE("a fault costs at most one deadline each time the breaker opens, and the tier is used "
          "again after it") {
  constexpr auto deadline = std::chrono::milliseconds(300);
  constexpr int lookups = 200;
  for (const auto& one : faults()) {
    CAPTURE(one.name);
    const local_redis redis;
    fault_proxy proxy(redis.socket());
    fill(proxy.url(), 1);
    one.begin(proxy);
    host ill(proxy.url(), [&](config& settings) { settings.remote.deadline = deadline; });
    unsigned waited = 0;        // lookups that took at least a deadline
    std::int64_t deadlines = 0; // the deadlines in the time of all lookups
    for (int i = 0; i < lookups; ++i) {
      const auto begun = std::chrono::steady_clock::now();
      CHECK_FALSE(ill.get("k" + std::to_string(i)).hit());
      const auto taken = (std::chrono::steady_clock::now() - begun) / deadline;
      if (taken >= 1) ++waited;
      deadlines += taken;
    }
    const auto openings = ill.stats().openings;
    CHECK(openings >= 1);
    CHECK(openings <= 2);
    // Another load on the machine may delay a lookup or two as much; without the breaker all would
    // wait.
    CHECK(waited <= openings + 2);
    CHECK(deadlines <= static_cast<std::int64_t>(openings) + 10);
    ill.insert("made meanwhile", "made");
    proxy.heal();
    ill.wait_for_log("is used again");
    CHECK(ill.get("k0").from == tier::remote);
    ill.rt->shutdown();
    host after(proxy.url());
    CHECK(after.get("made meanwhile").from == tier::remote);
  }
}

TEST_CASE("a reply that is cut or of another type is a miss and the tier goes on") {
  const local_redis redis;
  fault_proxy proxy(redis.socket());
  fill(proxy.url(), 3);
  host one(proxy.url());
  CHECK_FALSE(one.get("none").hit()); // the log of purges is read
  proxy.set(proxy_fault::cut);
  CHECK_FALSE(one.get("k0").hit());
  proxy.heal();
  CHECK(one.get("k0").from == tier::remote);
  proxy.wrong_type();
  for (int i = 0; i < 10; ++i)
    CHECK_FALSE(one.get("k1").hit());
  proxy.heal();
  CHECK(one.get("k1").from == tier::remote);
  CHECK(one.stats().openings == 0);
}

TEST_CASE("a server that refuses writes still answers, and gets them when it accepts them again") {
  for (const auto* trouble : {"OOM command not allowed when used memory > 'maxmemory'.",
                              "READONLY You can't write against a read only replica."}) {
    CAPTURE(trouble);
    const local_redis redis;
    fault_proxy proxy(redis.socket());
    fill(proxy.url(), 1);
    host one(proxy.url());
    proxy.error(trouble, {"SET", "DEL"});
    one.insert("made", "made");
    one.wait_for_log("takes no writes");
    CHECK(one.get("k0").from == tier::remote);
    CHECK(one.stats().state == "closed");
    proxy.heal();
    one.wait_for_log("takes writes again");
    one.rt->shutdown();
    host other(proxy.url());
    CHECK(other.get("made").from == tier::remote);
  }
}

TEST_CASE("a log of removals that does not end where it should is not read on") {
  const local_redis redis;
  fill(redis.url(), 1);
  const auto server = connected(redis.url());
  const auto added = ask(*server, {"EVAL",
                                   "for i = 1, 110000 do "
                                   "redis.call('XADD', KEYS[1], '1-' .. i, 'a', 'b') end return 1",
                                   "1", storage::purge_log_name("hearth")});
  REQUIRE_MESSAGE(added.failure == remote_failure::none, added.problem);
  host one(redis.url());
  one.wait_for_log("keeps no log of them: it has no end, or no order");
  CHECK(one.get("k0").from == tier::remote);
}

TEST_CASE("a server that stops while writes wait delays a shutdown by its deadline alone") {
  constexpr auto deadline = std::chrono::milliseconds(200);
  const auto adapt = [&](config& settings) {
    settings.remote.deadline = deadline;
    settings.remote.drain_deadline = std::chrono::seconds(60);
  };
  const auto time_of_shutdown = [](host& of) {
    const auto begun = std::chrono::steady_clock::now();
    of.rt->shutdown();
    return std::chrono::steady_clock::now() - begun;
  };
  local_redis redis;
  host well(redis.url(), adapt);
  well.insert("well", "well");
  const auto usual = time_of_shutdown(well);
  host one(redis.url(), adapt);
  one.insert("before", "before");
  redis.freeze();
  one.insert("after", "after");
  const auto took = time_of_shutdown(one);
  // The time of a shutdown on this machine now, plus the deadline, with a wide margin.
  CHECK(took < 10 * (usual + deadline));
  redis.thaw();
}

TEST_CASE("without a remote tier a miss stays a miss on the caller's thread") {
  host one("");
  CHECK_FALSE(one.get("k").hit());
  CHECK_FALSE(one.rt->stats().remote);
  CHECK(one.rt->stats().loads == 0);
}

TEST_CASE("a remote tier that cannot be set up is logged once and not used") {
  host one("redis://:secret@host:notaport");
  CHECK_FALSE(one.get("k").hit());
  one.wait_for_log("going on without a remote tier");
  CHECK_FALSE(one.get("k").hit());
  one.rt->shutdown();
  const std::lock_guard lock(one.mutex);
  CHECK(std::ranges::count_if(one.lines, [](const auto& line) {
          return line.find("going on without a remote tier") != std::string::npos;
        }) == 1);
  for (const auto& line : one.lines)
    CHECK(line.find("secret") == std::string::npos);
}

TEST_CASE("a process goes on with a server whose certificate was wrong and is replaced") {
  const temporary_directory directory;
  certificate_authority authority(directory.path(), "ca"), stranger(directory.path(), "stranger");
  struct trial {
    const char* name;
    certificate_files files;
  };
  const std::vector<trial> trials{
      {"of another authority", stranger.issue("forged", "DNS:localhost")},
      {"expired", authority.issue("expired", "DNS:localhost", -7200, -3600)},
      {"of another host", authority.issue("other", "DNS:elsewhere.example")}};
  const auto good = authority.issue("good", "DNS:localhost");
  const auto use = [&](const certificate_files& files) {
    constexpr auto over = std::filesystem::copy_options::overwrite_existing;
    std::filesystem::copy_file(files.certificate, directory / "used.crt", over);
    std::filesystem::copy_file(files.key, directory / "used.key", over);
  };
  for (const auto& one : trials) {
    CAPTURE(one.name);
    use(one.files);
    local_redis redis({.tls = true,
                       .certificate = directory / "used.crt",
                       .key = directory / "used.key",
                       .ca = authority.file()});
    const auto url = "rediss://localhost:" + std::to_string(redis.tls_port());
    const auto trust = [&](config& settings) { settings.remote.ca_file = authority.file(); };
    host here(url, trust);
    here.wait_for_log("going on without");
    CHECK(here.stats().problem.starts_with("untrusted"));
    CHECK_FALSE(here.get("k").hit());
    here.insert("k", "made meanwhile");
    redis.kill();
    use(good);
    redis.start();
    here.wait_for_log("is used again");
    here.rt->shutdown();
    CHECK(here.counts().puts == 1);
    host other(url, trust);
    CHECK(other.get("k").value.payload() == "made meanwhile");
  }
}

TEST_CASE("an entry of format 1 in place of one of this format is a miss and is replaced") {
  const local_redis redis;
  fill(redis.url(), 1);
  const auto name = name_in_server("k0");
  // The same envelope, but for its format.
  CHECK(redis.eval("local found = redis.call('GET', '" + name +
                   "') local begin, format = found:sub(1, 8), found:byte(9) "
                   "redis.call('SET', '" +
                   name + "', begin .. '\\1' .. found:sub(10)) return format") == 2);
  host one(redis.url());
  CHECK_FALSE(one.get("k0").hit());
  CHECK(one.counts().failures.at("malformed") == 1);
  one.insert("k0", "made again");
  one.rt->shutdown();
  host other(redis.url());
  CHECK(other.get("k0").from == tier::remote);
  CHECK(other.get("k0").value.payload() == "made again");
}

TEST_CASE("remote tier: what a host's callback throws ends nothing") {
  auto settings = test::in_memory();
  settings.remote.url = "redis+unix:///nowhere/redis.sock";
  std::atomic<int> lines{0};
  settings.log = [&](log_level, std::string_view) {
    ++lines;
    throw std::runtime_error("the log is full");
  };
  runtime rt(settings);
  auto entries = rt.open("graphs").value();
  const auto found = entries.get("k");
  REQUIRE_MESSAGE(found, found.error().text());
  CHECK(!found->hit());
  CHECK(lines > 0);
  CHECK(entries.insert("k", artifact::make("v")));
  CHECK(entries.get("k")->hit());
}

} // namespace remote_tier_test
