// Tunings as an embedder uses them: over a store, and over a real server that two machines share.
#include "runtime/caches/autotune/tunings.hpp"

#include "runtime/caches/autotune/tuning_connection.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/handle/runtime.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/local_redis.hpp"
#include "tests/support/runtimes.hpp"

#include <array>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

namespace tunings_test {

using namespace hearth;
using namespace hearth::test;

namespace {

kernel_config config_of(std::int64_t block) {
  return {.arguments = {{"XBLOCK", block}}, .num_warps = 4, .num_stages = 1};
}

autotune_choices among() { return {{config_of(64), config_of(128)}, "configs", false}; }

autotune_record record(std::int64_t block) {
  autotune_record made;
  made.config = config_of(block);
  made.configs_hash = "configs";
  made.time_taken_ns = 5'000'000;
  return made;
}

tuning_settings tuned(const std::string& tag = "") {
  tuning_settings settings;
  settings.scope = {sha256("toolchain"), "cpu", tag};
  return settings;
}

constexpr const char* code = "x = kernel('#1')  # run 17\n";
constexpr const char* same_code = "x = kernel('#1')  # run 18, elsewhere\n";

// A machine: its own store, and optionally the server that all machines share.
struct machine {
  explicit machine(const std::string& url = "", const std::vector<std::string>& caches = {}) {
    config.store = directory / "store";
    config.jobs = 1;
    config.remote.url = url;
    config.remote.caches = caches;
    config.remote.deadline = std::chrono::seconds(10); // a busy machine is not a failing server
  }
  hearth::config config;
  temporary_directory directory;
};

std::map<std::string, remote_cache_counts> counts(const runtime& rt) {
  std::map<std::string, remote_cache_counts> by_name;
  const auto stats = rt.stats();
  for (const auto& one : stats.remote->caches)
    by_name[one.cache] = one;
  return by_name;
}

} // namespace

TEST_CASE_FIXTURE(machine, "the best is remembered for its kernel, candidates, toolchain and tag") {
  runtime rt(config);
  const auto known = tunings::open(rt, tuned()).value();
  CHECK_FALSE(known.best("/tmp/ab/cabc.py", among()).value());
  REQUIRE(known.save("/tmp/ab/cabc.py", record(128)));
  CHECK(known.best("cabc.py", among()).value()->candidate == 1);
  CHECK_FALSE(known.best("other.py", among()).value());
  auto other = among();
  other.configs_hash = "others";
  CHECK_FALSE(known.best("cabc.py", other).value());
  CHECK_FALSE(tunings::open(rt, tuned("tag"))->best("cabc.py", among()).value());
  auto newer = tuned();
  newer.scope.toolchain = sha256("toolchain 2");
  CHECK_FALSE(tunings::open(rt, newer)->best("cabc.py", among()).value());
}

TEST_CASE_FIXTURE(machine, "without a tier there are no tunings") {
  runtime rt(config);
  auto none = tuned();
  none.local = false;
  CHECK(tunings::open(rt, none).error().code() == errc::unsupported);
  const auto local = tunings::open(rt, tuned()).value();
  CHECK(local.has_local());
  CHECK_FALSE(local.has_remote());
}

TEST_CASE("the remote tier needs a backend hash, and serves alone") {
  const local_redis redis;
  const machine here(redis.url());
  runtime rt(here.config);
  auto only_remote = tuned();
  only_remote.local = false;
  const auto shared = tunings::open(rt, only_remote).value();
  CHECK(shared.has_remote());
  REQUIRE(shared.save("k.py", record(64)));
  CHECK(shared.best("k.py", among()).value()->candidate == 0);
  CHECK_FALSE(tunings::open(rt, tuned())->begin(code, "python")->begun().hit);
  only_remote.scope.backend_hash.clear();
  CHECK(tunings::open(rt, only_remote).error().code() == errc::unsupported);
  // Without the local cache no bundle is stored.
  only_remote = tuned();
  only_remote.local = false;
  auto session = tunings::open(rt, only_remote)->begin(code, "python").value();
  CHECK(session.begun().id == 0);
  CHECK_FALSE(session.finish()->stored);
}

TEST_CASE("a new machine with only the remote has every configuration from one bundle") {
  const local_redis redis;
  {
    const machine here(redis.url());
    runtime rt(here.config);
    const auto known = tunings::open(rt, tuned()).value();
    auto session = known.begin(code, "python").value();
    CHECK_FALSE(session.begun().hit);
    for (int i = 0; i < 20; ++i)
      REQUIRE(known.save("k" + std::to_string(i) + ".py", record(i % 2 == 0 ? 64 : 128), session));
    const auto end = session.finish();
    CHECK(end->stored);
    CHECK(end->entries == 20);
  }
  const machine there(redis.url());
  runtime rt(there.config);
  const auto known = tunings::open(rt, tuned()).value();
  auto session = known.begin(same_code, "python").value();
  CHECK(session.begun().hit);
  CHECK(session.begun().entries == 20);
  CHECK(session.begun().time_saved_ns == 100'000'000);
  for (int i = 0; i < 20; ++i) {
    const auto best = known.best("k" + std::to_string(i) + ".py", among(), session).value();
    REQUIRE(best);
    CHECK(best->candidate == i % 2);
  }
  CHECK_FALSE(session.finish()->stored);
  rt.shutdown();
  const auto all = counts(rt);
  CHECK(all.at("autotune.bundle").hits == 1);
  CHECK(all.at("autotune.bundle").puts == 0);
  CHECK_FALSE(all.contains("autotune.best")); // no tuning was looked up alone
}

TEST_CASE("the remote tier counts hits, misses, puts and failures of tunings separately") {
  local_redis redis;
  const machine here(redis.url());
  runtime rt(here.config);
  const auto known = tunings::open(rt, tuned()).value();
  CHECK_FALSE(known.best("k.py", among()).value());
  REQUIRE(known.save("k.py", record(64)));
  const machine there(redis.url());
  rt.shutdown();
  CHECK(counts(rt).at("autotune.best").misses == 1);
  CHECK(counts(rt).at("autotune.best").puts == 1);
  runtime other(there.config);
  const auto shared = tunings::open(other, tuned()).value();
  CHECK(shared.best("k.py", among()).value()->candidate == 0);
  CHECK(shared.best("k.py", among()).value()->candidate == 0); // from the local tier by now
  CHECK(counts(other).at("autotune.best").hits == 1);
  redis.kill();
  CHECK_FALSE(shared.best("unknown.py", among()).value());
  const auto after = counts(other).at("autotune.best");
  CHECK(after.failures.size() + after.skipped == 1);
}

TEST_CASE("a connection error is not permanent") {
  local_redis redis;
  const machine here(redis.url());
  runtime rt(here.config);
  const auto known = tunings::open(rt, tuned()).value();
  redis.kill();
  CHECK_FALSE(known.best("k.py", among()).value());
  redis.start();
  // The breaker closes by itself; the test repeats the lookup until then.
  const machine writer_machine(redis.url());
  runtime writer(writer_machine.config);
  REQUIRE(tunings::open(writer, tuned())->save("k.py", record(64)));
  writer.shutdown();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  bool found = false;
  while (!found && std::chrono::steady_clock::now() < deadline) {
    found = known.best("k.py", among()).value().has_value();
    std::this_thread::yield();
  }
  CHECK(found);
}

TEST_CASE_FIXTURE(machine, "a session that is dropped without an end is abandoned, and ends once") {
  runtime rt(config);
  const auto known = tunings::open(rt, tuned()).value();
  { const auto dropped = known.begin(code, "python").value(); }
  auto session = known.begin(code, "python").value();
  REQUIRE(known.save("k.py", record(64), session));
  CHECK(session.finish()->stored);
  CHECK(session.finish().error().code() == errc::not_found);
  auto moved = known.begin(code, "python").value();
  moved = known.begin(code, "python").value();
  moved.abandon();
  CHECK(moved.finish().error().code() == errc::not_found);
}

TEST_CASE_FIXTURE(machine, "after shutdown every call is a closed error") {
  runtime rt(config);
  const auto known = tunings::open(rt, tuned()).value();
  auto session = known.begin(code, "python").value();
  rt.shutdown();
  CHECK(known.best("k.py", among()).error().code() == errc::closed);
  CHECK(known.save("k.py", record(64)).error().code() == errc::closed);
  CHECK(known.begin(code, "python").error().code() == errc::closed);
  CHECK(session.finish().error().code() == errc::closed);
}

namespace {

// A worker process: it gets only the message, through a pipe.
int tune_as_worker(int from) {
  std::string got;
  std::array<char, 4096> part;
  for (ssize_t n; (n = ::read(from, part.data(), part.size())) > 0;)
    got.append(part.data(), static_cast<std::size_t>(n));
  const auto handed = decode_connection(got);
  if (!handed) return 3;
  runtime worker(handed->runtime);
  const auto same = tunings::open(worker, handed->tunings);
  if (!same || !same->has_remote()) return 4;
  if (!same->best("parent.py", among()).value()) return 5;
  return same->save("child.py", record(128)) ? 0 : 6;
}

} // namespace

TEST_CASE("another process opens the tunings that a message describes") {
  const local_redis redis;
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  // Forked while this process has no threads.
  child_process worker([&] {
    ::close(ends[1]);
    return tune_as_worker(ends[0]);
  });
  ::close(ends[0]);
  const machine here(redis.url(), {"autotune"});
  runtime rt(here.config);
  const auto known = tunings::open(rt, tuned("tag")).value();
  const auto message = known.connection();
  REQUIRE(known.save("parent.py", record(64)));
  REQUIRE(::write(ends[1], message.data(), message.size()) == static_cast<ssize_t>(message.size()));
  ::close(ends[1]);
  CHECK(worker.wait() == 0);
  CHECK(known.best("child.py", among()).value()->candidate == 1);
}

TEST_CASE("a connection survives being sent and reports its own errors") {
  tuning_connection connection;
  connection.runtime.store = "/a/store";
  connection.runtime.remote.url = "redis://host";
  connection.runtime.remote.password_file = "/secret";
  connection.runtime.remote.mode = remote_mode::read_only;
  connection.runtime.remote.caches = {"autotune", "kernels"};
  connection.runtime.remote.ttl = std::chrono::hours(1);
  connection.tunings = tuned("tag");
  connection.tunings.coordinate_descent = true;
  connection.tunings.bundle = false;
  connection.tunings.remote_form = tuning_form::inductor;
  const auto message = encode_connection(connection);
  const auto read = decode_connection(message);
  REQUIRE(read);
  CHECK(encode_connection(*read) == message);
  CHECK(read->runtime.store == "/a/store");
  CHECK(read->runtime.remote.caches == connection.runtime.remote.caches);
  CHECK(read->runtime.remote.mode == remote_mode::read_only);
  CHECK(read->tunings.scope.toolchain == sha256("toolchain"));
  CHECK(read->tunings.coordinate_descent);
  CHECK(read->tunings.remote_form == tuning_form::inductor);
  for (std::size_t size = 0; size < message.size(); ++size)
    CHECK(decode_connection(message.substr(0, size)).error().code() == errc::malformed);
  CHECK(decode_connection(encode(value::map{{"format", 1}})).error().code() == errc::malformed);
}

TEST_CASE("only the named caches use the remote tier") {
  const local_redis redis;
  const machine here(redis.url(), {"autotune"});
  runtime rt(here.config);
  CHECK_FALSE(internals::name(*rt.open("kernels"))->remote);
  CHECK_FALSE(internals::name(*rt.open("autotunes"))->remote);
  CHECK(internals::name(*rt.open("autotune.best", cache_options().without_memory().without_disk()))
            ->remote);
  const machine all(redis.url());
  runtime every(all.config);
  CHECK(internals::name(*every.open("kernels"))->remote);
}

} // namespace tunings_test
