// The C interface, as a host sees it: through the shared library alone.
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <hearth.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace hearth_c_test {

using hearth::test::temporary_directory;

namespace {

struct host_closer {
  void operator()(hearth_host* host) const { hearth_close(host); }
};
struct cache_closer {
  void operator()(hearth_cache* cache) const { hearth_cache_close(cache); }
};
struct key_freer {
  void operator()(hearth_key* key) const { hearth_key_free(key); }
};
using host_ptr = std::unique_ptr<hearth_host, host_closer>;
using cache_ptr = std::unique_ptr<hearth_cache, cache_closer>;
using key_ptr = std::unique_ptr<hearth_key, key_freer>;

key_ptr text_key(std::string_view text) {
  return key_ptr(hearth_key_text(text.data(), text.size()));
}

// A store in a folder of its own, opened in one of the two ways.
class store {
public:
  explicit store(hearth_backing backing)
      : backing_(backing) {
    open();
  }
  void open() {
    cache_ = nullptr;
    host_ = nullptr;
    hearth_options options = HEARTH_OPTIONS_INIT;
    options.backing = backing_;
    hearth_host* opened = nullptr;
    REQUIRE(hearth_open((directory_.path() / "store").c_str(), &options, &opened) == HEARTH_OK);
    host_.reset(opened);
    cache_ = open_cache("c", nullptr);
  }
  cache_ptr open_cache(const char* name, const char* version) {
    hearth_cache* cache = nullptr;
    REQUIRE(hearth_cache_open(host_.get(), name, version, &cache) == HEARTH_OK);
    return cache_ptr(cache);
  }
  hearth_cache* cache() const { return cache_.get(); }
  hearth_host* host() const { return host_.get(); }
  void close() { host_ = nullptr; }

  hearth_status insert(std::string_view key, std::string_view bytes) {
    return hearth_insert(cache(), text_key(key).get(), bytes.data(), bytes.size());
  }
  std::string get(std::string_view key) {
    hearth_value value;
    const auto status = hearth_get(cache(), text_key(key).get(), &value);
    if (status != HEARTH_OK) return hearth_status_name(status);
    std::string bytes(static_cast<const char*>(value.data), value.size);
    hearth_value_release(&value);
    return bytes;
  }

private:
  const hearth_backing backing_;
  temporary_directory directory_;
  host_ptr host_;
  cache_ptr cache_;
};

constexpr hearth_backing backings[] = {HEARTH_BACKING_RUNTIME, HEARTH_BACKING_STORE};

// Whether the entry, whose time to live is 1 ms, becomes a miss: the clock is the system's.
bool is_miss_soon(store& in, std::string_view key) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (in.get(key) != "miss")
    if (std::chrono::steady_clock::now() > end) return false;
  return true;
}

// What an asynchronous call answered.
struct answer {
  hearth_status status = HEARTH_INTERNAL;
  std::string bytes, error;
  std::promise<void> came;

  static void take(void* context, hearth_status status, hearth_value* value, const char* error) {
    auto& self = *static_cast<answer*>(context);
    self.status = status;
    self.bytes.assign(static_cast<const char*>(value->data ? value->data : ""), value->size);
    self.error = error;
    hearth_value_release(value);
    self.came.set_value();
  }
};

} // namespace

TEST_CASE("c: entries are inserted, found, replaced and erased with either backing") {
  for (const auto backing : backings) {
    CAPTURE(backing);
    store in(backing);
    CHECK(in.get("k") == "miss");
    CHECK(in.insert("k", "first") == HEARTH_OK);
    CHECK(in.insert("k", "second") == HEARTH_EXISTS);
    CHECK(in.get("k") == "first");
    const auto key = text_key("k");
    CHECK(hearth_put(in.cache(), key.get(), "third", 5) == HEARTH_OK);
    CHECK(in.get("k") == "third");
    in.open(); // as another process would
    CHECK(in.get("k") == "third");
    CHECK(hearth_erase(in.cache(), key.get()) == HEARTH_OK);
    CHECK(hearth_erase(in.cache(), key.get()) == HEARTH_MISS);
    CHECK(in.get("k") == "miss");
    CHECK(in.insert("empty", "") == HEARTH_OK);
    CHECK(in.get("empty").empty());
    CHECK(hearth_flush(in.host()) == HEARTH_OK);
    CHECK(std::string(hearth_disk_problem(in.host())).empty());
    const auto other = in.open_cache("c", "2");
    hearth_value value;
    CHECK(hearth_get(other.get(), text_key("empty").get(), &value) == HEARTH_MISS);
    CHECK(value.data == nullptr);
  }
}

TEST_CASE("c: both backings see one store") {
  temporary_directory directory;
  const auto path = (directory.path() / "store").string();
  hearth_options options = HEARTH_OPTIONS_INIT;
  hearth_host *with_runtime = nullptr, *alone = nullptr;
  REQUIRE(hearth_open(path.c_str(), &options, &with_runtime) == HEARTH_OK);
  options.backing = HEARTH_BACKING_STORE;
  REQUIRE(hearth_open(path.c_str(), &options, &alone) == HEARTH_OK);
  const host_ptr one(with_runtime), two(alone);
  hearth_cache *first = nullptr, *second = nullptr;
  REQUIRE(hearth_cache_open(with_runtime, "c", "1", &first) == HEARTH_OK);
  REQUIRE(hearth_cache_open(alone, "c", "1", &second) == HEARTH_OK);
  const cache_ptr here(first), there(second);
  const auto key = text_key("k");
  hearth_value value;
  CHECK(hearth_put(second, key.get(), "one", 3) == HEARTH_OK);
  REQUIRE(hearth_get(first, key.get(), &value) == HEARTH_OK);
  CHECK(std::memcmp(value.data, "one", 3) == 0);
  hearth_value_release(&value);
  CHECK(hearth_put(first, key.get(), "two", 3) == HEARTH_OK);
  REQUIRE(hearth_get(second, key.get(), &value) == HEARTH_OK);
  CHECK(std::memcmp(value.data, "two", 3) == 0);
  hearth_value_release(&value);
  CHECK(hearth_put(second, key.get(), "three", 5) == HEARTH_OK);
  REQUIRE(hearth_get(first, key.get(), &value) == HEARTH_OK); // memory has seen the change
  CHECK(value.size == 5);
  hearth_value_release(&value);
}

TEST_CASE("c: keys of every kind differ, and have their canonical bytes") {
  store in(HEARTH_BACKING_RUNTIME);
  const auto text = text_key("17");
  const key_ptr number(hearth_key_integer(17)), bytes(hearth_key_bytes("17", 2));
  const hearth_key* parts[] = {text.get(), number.get()};
  const key_ptr tuple(hearth_key_tuple(parts, 2));
  const hearth_key* all[] = {text.get(), number.get(), bytes.get(), tuple.get()};
  for (int i = 0; i < 4; ++i)
    CHECK(hearth_put(in.cache(), all[i], &i, sizeof i) == HEARTH_OK);
  hearth_value values[5];
  hearth_status statuses[5];
  const auto none = text_key("none");
  const hearth_key* asked[] = {all[0], all[1], none.get(), all[2], all[3]};
  hearth_get_many(in.cache(), asked, 5, values, statuses);
  const int expected[] = {0, 1, -1, 2, 3};
  for (int i = 0; i < 5; ++i) {
    CHECK(statuses[i] == (expected[i] < 0 ? HEARTH_MISS : HEARTH_OK));
    if (statuses[i] == HEARTH_OK)
      CHECK(std::memcmp(values[i].data, &expected[i], sizeof(int)) == 0);
    hearth_value_release(&values[i]);
  }
  size_t size = 0;
  const auto* const encoded = hearth_key_encoded(tuple.get(), &size);
  CHECK(std::string(static_cast<const char*>(encoded), size) == "\x92\xa2"
                                                                "17\x11");
  hearth_key* decoded = nullptr;
  CHECK(hearth_key_decode(encoded, size, &decoded) == HEARTH_OK);
  hearth_value value;
  CHECK(hearth_get(in.cache(), decoded, &value) == HEARTH_OK);
  hearth_value_release(&value);
  hearth_key_free(decoded);
  CHECK(hearth_key_decode("\xc0", 1, &decoded) == HEARTH_INVALID_KEY);
  CHECK(decoded == nullptr);
}

TEST_CASE("c: wrong arguments are statuses with a text") {
  hearth_host* host = nullptr;
  CHECK(hearth_open("/tmp", nullptr, nullptr) == HEARTH_INVALID_ARGUMENT);
  CHECK(std::string(hearth_error()) == "host is NULL");
  hearth_options options = HEARTH_OPTIONS_INIT;
  options.size = 1;
  CHECK(hearth_open("", &options, &host) == HEARTH_INVALID_ARGUMENT);
  options = HEARTH_OPTIONS_INIT;
  options.backing = 9;
  CHECK(hearth_open("", &options, &host) == HEARTH_INVALID_ARGUMENT);
  options = HEARTH_OPTIONS_INIT;
  options.backing = HEARTH_BACKING_STORE;
  CHECK(hearth_open("", &options, &host) == HEARTH_INVALID_ARGUMENT);
  options.remote_url = "redis://127.0.0.1:1";
  CHECK(hearth_open("store", &options, &host) == HEARTH_INVALID_ARGUMENT);
  CHECK(host == nullptr);
  store in(HEARTH_BACKING_RUNTIME);
  hearth_cache* cache = nullptr;
  CHECK(hearth_cache_open(in.host(), "a/b", nullptr, &cache) == HEARTH_INVALID_ARGUMENT);
  CHECK(cache == nullptr);
  hearth_value value;
  CHECK(hearth_get(nullptr, nullptr, &value) == HEARTH_INVALID_ARGUMENT);
  CHECK(hearth_get(in.cache(), nullptr, &value) == HEARTH_INVALID_ARGUMENT);
  const auto long_key = text_key(std::string(70'000, 'k'));
  CHECK(hearth_get(in.cache(), long_key.get(), &value) == HEARTH_INVALID_KEY);
  CHECK(std::string(hearth_error()).find("65000") != std::string::npos);
  CHECK(hearth_insert(in.cache(), text_key("k").get(), nullptr, 7) == HEARTH_INVALID_ARGUMENT);
  constexpr int unused = 24;
  for (int status = HEARTH_COMPILE; status <= HEARTH_PROGRAM_REFUSED; ++status)
    CHECK((std::string(hearth_status_name(status)) == "unknown") == (status == unused));
  CHECK(std::string(hearth_status_name(99)) == "unknown");
  CHECK(std::string(hearth_status_name(HEARTH_NO_SPACE)) == "no_space");
}

TEST_CASE("c: an entry with a time to live ends, and can be stored anew, with either backing") {
  for (const auto backing : backings) {
    CAPTURE(backing);
    store in(backing);
    const auto insert = [&](const char* bytes, std::int64_t ttl_ms) {
      return hearth_insert_ttl(in.cache(), text_key("k").get(), bytes, std::strlen(bytes), ttl_ms);
    };
    const auto put = [&](const char* bytes, std::int64_t ttl_ms) {
      return hearth_put_ttl(in.cache(), text_key("k").get(), bytes, std::strlen(bytes), ttl_ms);
    };
    constexpr std::int64_t hour_ms = 3'600'000;
    CHECK(insert("one", hour_ms) == HEARTH_OK);
    CHECK(insert("two", hour_ms) == HEARTH_EXISTS);
    CHECK(in.get("k") == "one");
    REQUIRE(put("two", 1) == HEARTH_OK);
    CHECK(is_miss_soon(in, "k"));
    in.open();
    CHECK(in.get("k") == "miss");
    CHECK(insert("three", INT64_MAX) == HEARTH_OK);
    CHECK(in.get("k") == "three");
    CHECK(put("four", 0) == HEARTH_OK);
    CHECK(in.get("k") == "four");
    CHECK(put("five", -1) == HEARTH_INVALID_ARGUMENT);
    CHECK(insert("five", -1) == HEARTH_INVALID_ARGUMENT);
    CHECK(std::string(hearth_error()).find("ttl_ms") != std::string::npos);
    CHECK(in.get("k") == "four");
  }
}

TEST_CASE("c: a compiled entry and one that is stored asynchronously may end, too") {
  for (const auto backing : backings) {
    CAPTURE(backing);
    store in(backing);
    hearth_value value;
    hearth_lease* lease = nullptr;
    REQUIRE(hearth_acquire(in.cache(), text_key("k").get(), -1, &value, &lease) == HEARTH_COMPILE);
    REQUIRE(hearth_fulfil_ttl(lease, "code", 4, 1, &value) == HEARTH_OK);
    CHECK(std::string(static_cast<const char*>(value.data), value.size) == "code");
    hearth_value_release(&value);
    CHECK(is_miss_soon(in, "k"));
    REQUIRE(hearth_acquire(in.cache(), text_key("k").get(), -1, &value, &lease) == HEARTH_COMPILE);
    CHECK(hearth_fulfil_ttl(lease, "code", 4, -1, &value) == HEARTH_INVALID_ARGUMENT);
    CHECK(in.get("k") == "miss");
  }
  store in(HEARTH_BACKING_RUNTIME);
  answer stored;
  REQUIRE(hearth_insert_ttl_async(in.cache(), text_key("k").get(), "code", 4, 1, answer::take,
                                  &stored) == HEARTH_OK);
  stored.came.get_future().wait();
  CHECK(stored.status == HEARTH_OK);
  CHECK(is_miss_soon(in, "k"));
  CHECK(hearth_insert_ttl_async(in.cache(), text_key("k").get(), "code", 4, -1, answer::take,
                                &stored) == HEARTH_INVALID_ARGUMENT);
}

TEST_CASE("c: a remote tier that cannot be made, and a store that cannot be used, say why") {
  temporary_directory directory;
  hearth_options options = HEARTH_OPTIONS_INIT;
  options.remote_url = "ftp://host";
  hearth_host* opened = nullptr;
  REQUIRE(hearth_open("/proc/none", &options, &opened) == HEARTH_OK);
  const host_ptr host(opened);
  CHECK(std::string(hearth_remote_problem(opened)).find("redis://") != std::string::npos);
  CHECK(std::string(hearth_disk_problem(opened)) != "");
}

TEST_CASE("c: one caller compiles, the others get its entry") {
  for (const auto backing : backings) {
    CAPTURE(backing);
    store in(backing);
    std::atomic<int> compiled{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        hearth_value value;
        hearth_lease* lease = nullptr;
        const auto status = hearth_acquire(in.cache(), text_key("k").get(), -1, &value, &lease);
        if (status == HEARTH_COMPILE) {
          ++compiled;
          hearth_beat(lease);
          CHECK(hearth_fulfil(lease, "made", 4, &value) == HEARTH_OK);
        } else {
          CHECK(status == HEARTH_OK);
        }
        CHECK(std::string(static_cast<const char*>(value.data), value.size) == "made");
        hearth_value_release(&value);
      });
    for (auto& thread : threads)
      thread.join();
    CHECK(compiled == 1);
    CHECK(in.get("k") == "made");
  }
}

TEST_CASE("c: a lease that ends without an entry goes to the next") {
  for (const auto backing : backings) {
    CAPTURE(backing);
    store in(backing);
    const auto key = text_key("k");
    hearth_value value;
    hearth_lease *first = nullptr, *second = nullptr;
    REQUIRE(hearth_acquire(in.cache(), key.get(), -1, &value, &first) == HEARTH_COMPILE);
    CHECK(hearth_acquire(in.cache(), key.get(), 5, &value, &second) == HEARTH_TIMEOUT);
    CHECK(second == nullptr);
    hearth_release(first);
    REQUIRE(hearth_acquire(in.cache(), key.get(), -1, &value, &second) == HEARTH_COMPILE);
    hearth_abandon(second, "no such register");
    REQUIRE(hearth_acquire(in.cache(), key.get(), -1, &value, &first) == HEARTH_COMPILE);
    CHECK(hearth_fulfil(first, "made", 4, nullptr) == HEARTH_OK);
    CHECK(in.get("k") == "made");
  }
}

TEST_CASE("c: who waits for a compile that fails gets its text") {
  store in(HEARTH_BACKING_RUNTIME);
  const auto key = text_key("k");
  hearth_value value;
  hearth_lease* lease = nullptr;
  REQUIRE(hearth_acquire(in.cache(), key.get(), -1, &value, &lease) == HEARTH_COMPILE);
  auto waits = std::async(std::launch::async, [&] {
    hearth_value none;
    hearth_lease* unheld = nullptr;
    const auto status = hearth_acquire(in.cache(), text_key("k").get(), -1, &none, &unheld);
    if (status == HEARTH_COMPILE) hearth_release(unheld); // it came too late to wait
    return status == HEARTH_COMPILE ? std::string("no such register") : std::string(hearth_error());
  });
  hearth_abandon(lease, "no such register");
  CHECK(waits.get() == "no such register");
}

TEST_CASE("c: asynchronous calls answer once, and a store alone has none") {
  store in(HEARTH_BACKING_RUNTIME);
  const auto key = text_key("k");
  answer miss, inserted, exists, hit, wrong;
  CHECK(hearth_get_async(in.cache(), key.get(), answer::take, &miss) == HEARTH_OK);
  miss.came.get_future().wait();
  CHECK(miss.status == HEARTH_MISS);
  CHECK(hearth_insert_async(in.cache(), key.get(), "v", 1, answer::take, &inserted) == HEARTH_OK);
  inserted.came.get_future().wait();
  CHECK(inserted.status == HEARTH_OK);
  CHECK(hearth_insert_async(in.cache(), key.get(), "w", 1, answer::take, &exists) == HEARTH_OK);
  exists.came.get_future().wait();
  CHECK(exists.status == HEARTH_EXISTS);
  CHECK(hearth_get_async(in.cache(), key.get(), answer::take, &hit) == HEARTH_OK);
  hit.came.get_future().wait();
  CHECK(hit.bytes == "v");
  const auto long_key = text_key(std::string(70'000, 'k'));
  CHECK(hearth_get_async(in.cache(), long_key.get(), answer::take, &wrong) == HEARTH_OK);
  wrong.came.get_future().wait();
  CHECK(wrong.status == HEARTH_INVALID_KEY);
  CHECK(wrong.error != "");
  store alone(HEARTH_BACKING_STORE);
  CHECK(hearth_get_async(alone.cache(), key.get(), answer::take, &hit) == HEARTH_UNSUPPORTED);
}

TEST_CASE("c: a closed host answers so, and its hits stay readable") {
  for (const auto backing : backings) {
    CAPTURE(backing);
    store in(backing);
    REQUIRE(in.insert("k", "bytes") == HEARTH_OK);
    hearth_value value;
    REQUIRE(hearth_get(in.cache(), text_key("k").get(), &value) == HEARTH_OK);
    in.close();
    CHECK(std::memcmp(value.data, "bytes", 5) == 0);
    hearth_value_release(&value);
    hearth_value_release(&value); // of an empty value: nothing
    CHECK(in.insert("other", "x") == HEARTH_CLOSED);
  }
}

TEST_CASE("c: statistics count hits and the time that they saved") {
  store in(HEARTH_BACKING_RUNTIME);
  hearth_value value;
  hearth_lease* lease = nullptr;
  REQUIRE(hearth_acquire(in.cache(), text_key("k").get(), -1, &value, &lease) == HEARTH_COMPILE);
  CHECK(hearth_fulfil(lease, "made", 4, &value) == HEARTH_OK);
  CHECK(hearth_value_time_taken_ns(&value) > 0);
  hearth_value_release(&value);
  CHECK(in.get("k") == "made");
  hearth_stats stats{};
  CHECK(hearth_get_stats(in.host(), &stats) == HEARTH_INVALID_ARGUMENT);
  stats.size = sizeof stats;
  REQUIRE(hearth_get_stats(in.host(), &stats) == HEARTH_OK);
  CHECK(stats.memory_hits >= 1);
  CHECK(stats.time_saved_ns > 0);
  CHECK(stats.entries == 1);
  hearth_stats old{};
  old.size = offsetof(hearth_stats, entries); // a caller that knows fewer members
  old.entries = 77;
  REQUIRE(hearth_get_stats(in.host(), &old) == HEARTH_OK);
  CHECK(old.memory_hits >= 1);
  CHECK(old.entries == 77);
}

TEST_CASE("c: each cache has statistics of its own, in both backings") {
  for (const auto backing : backings) {
    CAPTURE(backing);
    store in(backing);
    const auto other = in.open_cache("other", nullptr);
    const auto again = in.open_cache("c", nullptr); // shares the counts of `in.cache()`
    hearth_value value;
    CHECK(hearth_look(in.cache(), text_key("k").get(), &value) == HEARTH_MISS); // not counted
    hearth_lease* lease = nullptr;
    REQUIRE(hearth_acquire(in.cache(), text_key("k").get(), -1, &value, &lease) == HEARTH_COMPILE);
    REQUIRE(hearth_fulfil(lease, "made", 4, nullptr) == HEARTH_OK);
    REQUIRE(hearth_acquire(in.cache(), text_key("bad").get(), -1, &value, &lease) ==
            HEARTH_COMPILE);
    hearth_abandon(lease, "no");
    CHECK(hearth_look(again.get(), text_key("k").get(), &value) == HEARTH_OK);
    CHECK(std::string_view(static_cast<const char*>(value.data), value.size) == "made");
    hearth_value_release(&value);
    CHECK(in.get("k") == "made");
    CHECK(in.get("none") == "miss");
    CHECK(in.insert("k", "late") == HEARTH_EXISTS);
    CHECK(hearth_put(in.cache(), text_key("k").get(), "put", 3) == HEARTH_OK);
    CHECK(hearth_erase(in.cache(), text_key("k").get()) == HEARTH_OK);
    CHECK(hearth_erase(in.cache(), text_key("k").get()) == HEARTH_MISS);

    hearth_cache_stats counts{};
    CHECK(hearth_get_cache_stats(in.cache(), &counts) == HEARTH_INVALID_ARGUMENT);
    CHECK(hearth_get_cache_stats(nullptr, &counts) == HEARTH_INVALID_ARGUMENT);
    counts.size = sizeof counts;
    // A lease that is abandoned by message is counted when the shard has taken it.
    do
      REQUIRE(hearth_get_cache_stats(again.get(), &counts) == HEARTH_OK);
    while (counts.failures == 0);
    CHECK(counts.memory_hits + counts.disk_hits == 2);
    CHECK(counts.remote_hits == 0);
    CHECK(counts.misses == 3);
    CHECK(counts.waits == 0);
    CHECK(counts.compiles == 1);
    CHECK(counts.failures == 1);
    CHECK(counts.inserted == 1);
    CHECK(counts.existed == 1);
    CHECK(counts.put == 1);
    CHECK(counts.erased == 1);
    CHECK((counts.time_saved_ns > 0) == (backing == HEARTH_BACKING_RUNTIME));
    hearth_cache_stats none{};
    none.size = offsetof(hearth_cache_stats, waits); // a caller that knows fewer members
    none.waits = 77;
    REQUIRE(hearth_get_cache_stats(other.get(), &none) == HEARTH_OK);
    CHECK(none.memory_hits + none.disk_hits + none.misses == 0);
    CHECK(none.waits == 77);
  }
}

TEST_CASE("c: the child of a fork goes on with a store alone, and is refused by a runtime") {
  for (const auto backing : backings) {
    CAPTURE(backing);
    store in(backing);
    REQUIRE(in.insert("k", "v") == HEARTH_OK);
    const auto child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const bool alone = backing == HEARTH_BACKING_STORE;
      bool good = in.get("k") == "v";
      good = good && in.insert("of the child", "x") == (alone ? HEARTH_OK : HEARTH_FORKED);
      _exit(good ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(in.get("of the child") == (backing == HEARTH_BACKING_STORE ? "x" : "miss"));
  }
}

} // namespace hearth_c_test
