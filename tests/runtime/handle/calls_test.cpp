// Deadlines, cancellation and batches of the cache handle.
#include "actors/thread_unit.hpp"
#include "runtime/handle/actor_form.hpp"
#include "tests/support/runtimes.hpp"

#include <caf/actor_system_config.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace calls_test {

using namespace hearth;
using namespace hearth::test;
using namespace std::chrono_literals;

namespace {

// A compile that runs in another thread until the test ends it.
class slow_compile {
public:
  slow_compile(cache in, const key& k)
      : thread_([this, in, k] {
        result_ = in.get_or_compile(k, [&]() -> expected<artifact> {
          started_.set_value();
          return outcome_.get_future().get();
        });
      }) {
    started_.get_future().wait();
  }
  slow_compile(const slow_compile&) = delete;
  slow_compile& operator=(const slow_compile&) = delete;
  ~slow_compile() {
    if (thread_.joinable()) end(artifact::make("made"));
  }
  expected<artifact> end(expected<artifact> outcome) {
    outcome_.set_value(std::move(outcome));
    thread_.join();
    return result_;
  }

private:
  std::promise<void> started_;
  std::promise<expected<artifact>> outcome_;
  expected<artifact> result_ = fail(errc::internal, "not ended");
  std::thread thread_;
};

const auto never = [] { return artifact::make("never"); };

std::vector<key> numbered(int count) {
  std::vector<key> keys;
  for (int i = 0; i < count; ++i)
    keys.push_back(key::integer(i));
  return keys;
}

std::string payload_at(int i) { return "value " + std::to_string(i); }

} // namespace

TEST_CASE_FIXTURE(on_disk,
                  "get_many answers in order from memory and disk, with misses and errors") {
  auto with = settings();
  with.memory_shards = 3;
  {
    runtime rt(with);
    for (int i = 0; i < 150; i += 2)
      CHECK(rt.open("c")->insert(key::integer(i), artifact::make(payload_at(i))));
  }
  runtime rt(with);
  const auto cache = rt.open("c").value();
  auto keys = numbered(150);
  keys.push_back(key::bytes(std::string(max_key_bytes, 'k')));
  const auto from_disk = cache.get_many(keys);
  CHECK(cache.put(key::integer(0), artifact::make(payload_at(0)))); // handled after the promotions
  const auto again = cache.get_many_async(keys).get().value();
  REQUIRE(from_disk.size() == keys.size());
  REQUIRE(again.size() == keys.size());
  int in_memory = 0;
  for (int i = 0; i < 150; ++i) {
    CHECK(from_disk[std::size_t(i)]->from == (i % 2 ? tier::none : tier::disk));
    CHECK(again[std::size_t(i)]->hit() == (i % 2 == 0));
    in_memory += again[std::size_t(i)]->from == tier::memory;
    if (i % 2 == 0) CHECK(again[std::size_t(i)]->value.payload() == payload_at(i));
  }
  CHECK(in_memory > 0);
  CHECK(from_disk.back().error().code() == errc::invalid_key);
  CHECK(cache.get_many({}).empty());
}

TEST_CASE_FIXTURE(on_disk, "many keys are found by messages alone") {
  auto with = settings();
  with.memory_shards = 3;
  runtime rt(with);
  const auto cache = rt.open("c").value();
  for (int i = 0; i < 100; i += 2)
    CHECK(cache.insert(key::integer(i), artifact::make(payload_at(i))));
  auto keys = numbered(100);
  keys.push_back(key::bytes(std::string(max_key_bytes, 'k')));
  const auto found = get_by_message(cache, keys).get().value();
  REQUIRE(found.size() == keys.size());
  for (int i = 0; i < 100; ++i) {
    CHECK(found[std::size_t(i)]->hit() == (i % 2 == 0));
    if (i % 2 == 0) CHECK(found[std::size_t(i)]->value.payload() == payload_at(i));
  }
  CHECK(found.back().error().code() == errc::invalid_key);
  CHECK(get_by_message(cache, {}).get()->empty());
  std::stop_source stop;
  stop.request_stop();
  CHECK(get_by_message(cache, keys, call_options().stopped_by(stop.get_token()))
            .get()
            .error()
            .code() == errc::cancelled);
  rt.shutdown();
  CHECK(get_by_message(cache, keys).get().error().code() == errc::closed);
}

TEST_CASE("a call that was cancelled before it began is cancelled in every form") {
  runtime rt(in_memory());
  const auto cache = rt.open("c").value();
  std::stop_source stop;
  stop.request_stop();
  const auto off = call_options().stopped_by(stop.get_token());
  const auto value = artifact::make("v");
  CHECK(cache.get("k", off).error().code() == errc::cancelled);
  CHECK(cache.get_async("k", off).get().error().code() == errc::cancelled);
  CHECK(cache.get_many(numbered(2), off)[1].error().code() == errc::cancelled);
  CHECK(cache.insert("k", value, off).error().code() == errc::cancelled);
  CHECK(cache.insert_async("k", value, off).get().error().code() == errc::cancelled);
  CHECK(cache.put("k", value, off).error().code() == errc::cancelled);
  CHECK(cache.put_async("k", value, off).get().error().code() == errc::cancelled);
  CHECK(cache.erase("k", off).error().code() == errc::cancelled);
  CHECK(cache.erase_async("k", off).get().error().code() == errc::cancelled);
  CHECK(cache.get_or_compile("k", never, off).error().code() == errc::cancelled);
  CHECK(cache.get_or_compile_async("k", never, off).get().error().code() == errc::cancelled);
  CHECK_FALSE(cache.get("k")->hit());
}

TEST_CASE("a wait for another caller's compile is cancelled from another thread") {
  runtime rt(in_memory());
  const auto cache = rt.open("c").value();
  slow_compile slow(cache, "k");
  std::stop_source stop;
  auto waiting = std::async(std::launch::async, [&] {
    return cache.get_or_compile("k", never, call_options().stopped_by(stop.get_token()));
  });
  auto async = cache.get_or_compile_async("k", never, call_options().stopped_by(stop.get_token()));
  CHECK_FALSE(async.ready());
  stop.request_stop();
  CHECK(waiting.get().error().code() == errc::cancelled);
  CHECK(async.get().error().code() == errc::cancelled);
  CHECK(slow.end(artifact::make("made")));
  CHECK(cache.get("k")->value.payload() == "made");
}

TEST_CASE("an asynchronous wait ends at its deadline without a waiting thread") {
  runtime rt(in_memory());
  const auto cache = rt.open("c").value();
  slow_compile slow(cache, "k");
  std::promise<expected<artifact>> told;
  std::atomic<int> times{0};
  cache.get_or_compile_async("k", never, call_options().within(1ms))
      .then([&](expected<artifact> answer) {
        ++times;
        told.set_value(std::move(answer));
      });
  CHECK(told.get_future().get().error().code() == errc::timeout);
  CHECK(slow.end(artifact::make("made")));
  rt.shutdown();
  CHECK(times == 1);
}

TEST_CASE("a call that ends within its deadline succeeds") {
  runtime rt(in_memory());
  const auto cache = rt.open("c").value();
  const auto minute = call_options().within(60s);
  CHECK(*cache.insert("k", artifact::make("v"), minute) == insert_outcome::inserted);
  CHECK(*cache.insert_async("k", artifact::make("w"), minute).get() == insert_outcome::exists);
  CHECK(cache.put_async("k", artifact::make("w"), minute).get());
  CHECK(cache.get("k", minute)->value.payload() == "w");
  CHECK(*cache.erase_async("k", minute).get());
  CHECK(cache.get_or_compile_async("k", never, minute).get()->payload() == "never");
}

TEST_CASE("requests that gave up waiting do not fill the limit of requests in flight") {
  runtime rt(refusing_beyond(4));
  const auto cache = rt.open("c").value();
  slow_compile slow(cache, "k"); // in flight only until it has the lease
  for (int i = 0; i < 200; ++i) {
    const auto late = cache.get_or_compile("k", never, call_options().within(1ms));
    REQUIRE_FALSE(late);
    // The previous request may still be counted, but requests never accumulate.
    const bool expected_error =
        late.error().code() == errc::timeout || late.error().code() == errc::overloaded;
    REQUIRE(expected_error);
  }
  for (int i = 0; i < 200; ++i) {
    auto dropped = cache.get_or_compile_async("k", never);
    static_cast<void>(dropped.ready());
  }
  CHECK(slow.end(artifact::make("made")));
  CHECK(cache.insert("x", artifact::make("v")));
}

TEST_CASE("a thread that runs actors does not wait for a slot of the limit") {
  auto settings = in_memory();
  settings.max_inflight = 1;
  runtime rt(settings);
  const auto cache = rt.open("c").value();
  slow_compile slow(cache, "k");
  auto waits = cache.get_or_compile_async("k", never); // has the only slot
  caf::actor_system_config of_another;
  caf::actor_system another(of_another);
  const actors::thread_unit unit(another);
  CHECK(*cache.insert_async("x", artifact::make("v")).get() == insert_outcome::inserted);
  CHECK(slow.end(artifact::make("made")));
  CHECK(waits.get()->payload() == "made");
}

TEST_CASE("a dropped future of a compile is passed over") {
  runtime rt(in_memory());
  const auto cache = rt.open("c").value();
  slow_compile slow(cache, "k");
  std::atomic<bool> compiled{false};
  {
    auto dropped = cache.get_or_compile_async("k", [&]() -> expected<artifact> {
      compiled = true;
      return artifact::make("wrong");
    });
    CHECK_FALSE(dropped.ready());
  }
  auto next = cache.get_or_compile_async("k", [] { return artifact::make("right"); });
  CHECK(slow.end(fail(errc::cancelled, "called off")).error().code() == errc::cancelled);
  CHECK(next.get()->payload() == "right");
  CHECK_FALSE(compiled);
}

} // namespace calls_test
