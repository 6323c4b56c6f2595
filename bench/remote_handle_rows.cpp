// remote.get, remote.large, remote.wait, remote.many, remote.cluster and stalled: the remote tier
// through the cache handle, as users call it.
#include "bench/frame/dataset.hpp"
#include "bench/frame/figures.hpp"
#include "bench/frame/timing.hpp"
#include "bench/peers/redis_cluster.hpp"
#include "bench/peers/redis_process.hpp"
#include "bench/remote_entries.hpp"
#include "bench/rows.hpp"
#include "hearth/hearth.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <deque>
#include <exception>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::bench {
namespace {

constexpr std::size_t depth = 64;
constexpr std::size_t kib = 1024;
// Total bytes of all values, and of the gets of one turn.
constexpr std::size_t data_bytes = 64 * kib * kib;
constexpr std::size_t turn_bytes = 1024 * kib * kib;
constexpr std::size_t max_names = 10'000;
constexpr std::size_t max_gets = 200'000;
constexpr std::chrono::milliseconds patient{30'000};

// A runtime with only a remote tier.
class remote_cache {
public:
  remote_cache(const std::string& url, std::chrono::milliseconds deadline)
      : host_(settings(url, deadline))
      , entries_(*host_.open(remote_cache_name, cache_options().without_memory().without_disk())) {}

  cache& entries() { return entries_; }

private:
  static config settings(const std::string& url, std::chrono::milliseconds deadline) {
    config result;
    result.remote.url = url;
    result.remote.deadline = deadline;
    return result;
  }

  runtime host_;
  cache entries_;
};

constexpr auto not_given = "the remote tier did not give what it has";

bool is_right(const expected<lookup>& found, const dataset& data) {
  return found && found->value.payload().size() == data.value_bytes();
}

void require(const expected<lookup>& found, const dataset& data) {
  if (!is_right(found, data)) throw std::runtime_error(not_given);
}

// A coroutine that requests entries one after the other, like a client in an event loop.
struct client {
  struct promise_type {
    client get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

// The keys in the order of the requests, contiguous in memory: real clients have just made theirs,
// as redis-benchmark does.
std::vector<key> wanted_keys(const dataset& data) {
  std::vector<key> keys;
  keys.reserve(data.size());
  for (const auto entry : data.order())
    keys.push_back(data.key(entry));
  return keys;
}

struct shared_work {
  shared_work(cache& in, const dataset& of, const std::vector<key>& which, std::size_t gets)
      : entries(in)
      , data(of)
      , keys(which)
      , count(gets) {}
  cache& entries;
  const dataset& data;
  const std::vector<key>& keys;
  const std::size_t count;
  std::atomic<std::size_t> asked{0};
  std::atomic<std::size_t> wrong{0};
  std::atomic<std::size_t> at_work{depth};
  std::binary_semaphore over{0};
};

client get_until_over(std::shared_ptr<shared_work> all) {
  for (std::size_t i = 0; (i = all->asked.fetch_add(1)) < all->count;) {
    const auto found = co_await all->entries.get_async(all->keys[i % all->keys.size()]);
    if (!is_right(found, all->data)) ++all->wrong;
  }
  if (--all->at_work == 0) all->over.release();
}

void get_concurrently(cache& entries, const dataset& data, const std::vector<key>& keys,
                      std::size_t count) {
  const auto all = std::make_shared<shared_work>(entries, data, keys, count);
  for (std::size_t i = 0; i < depth; ++i)
    get_until_over(all);
  all->over.acquire();
  if (all->wrong != 0) throw std::runtime_error(not_given);
}

// Gets on one thread, which waits for the oldest request and sends the next.
void get_each(cache& entries, const dataset& data, const std::vector<key>& keys,
              std::size_t count) {
  std::deque<future<lookup>> under_way;
  std::size_t asked = 0;
  for (std::size_t answered = 0; answered < count; ++answered) {
    for (; under_way.size() < depth && asked < count; ++asked)
      under_way.push_back(entries.get_async(keys[asked % keys.size()]));
    require(under_way.front().get(), data);
    under_way.pop_front();
  }
}

// Gets in the way of redis-benchmark: `depth` requests together, then the next `depth`.
void get_together(cache& entries, const dataset& data, const std::vector<key>& keys,
                  std::size_t count) {
  std::vector<key> some;
  for (std::size_t asked = 0; asked < count; asked += depth) {
    some.clear();
    for (std::size_t i = asked; i < asked + depth; ++i)
      some.push_back(keys[i % keys.size()]);
    for (const auto& found : entries.get_many(some))
      require(found, data);
  }
}

using get_function =
    std::function<void(cache&, const dataset&, const std::vector<key>&, std::size_t)>;

// Gets from a cluster, which has the same values in slots of redis-benchmark's own.
void measure_cluster(row_run& run, const get_function& get, std::string_view how) {
  const redis_cluster redis(run.how().directory);
  const dataset data(run.scaled(max_names, 100), kib);
  fill_remote(redis.url(), data);
  const auto keys = wanted_keys(data);
  redis.fill(envelope_bytes(data));
  remote_cache reader(redis.url(), patient);
  const auto gets = run.scaled(max_gets, 1'000) / depth * depth;
  run.compare({{"hearth",
                [&] {
                  const stopwatch watch;
                  get(reader.entries(), data, keys, gets);
                  return watch.seconds() / static_cast<double>(gets);
                }},
               {"redis", [&] { return redis.seconds_a_get(gets, depth); }}},
              fmt::format("a get of 1 KiB from a Redis Cluster of three masters over loopback, "
                          "through the handle without other tiers, checksum verified, {}; "
                          "redis-benchmark --cluster: {} in flight on one connection to each",
                          how, depth / redis_cluster::masters));
}

void measure_gets(row_run& run, std::size_t value_bytes, const get_function& get,
                  std::string_view how) {
  const redis_process redis(run.how().directory);
  const auto names = std::min(max_names, data_bytes / value_bytes);
  const dataset data(run.scaled(names, 100), value_bytes);
  fill_remote(redis.url(), data);
  const auto keys = wanted_keys(data);
  // The values of redis-benchmark are as large as an entry's envelope.
  const auto bytes = envelope_bytes(data);
  redis.fill(data.size(), bytes);
  remote_cache reader(redis.url(), patient);
  const auto gets = run.scaled(std::min(max_gets, turn_bytes / value_bytes), 1'000) / depth * depth;
  run.compare(
      {{"hearth",
        [&] {
          const stopwatch watch;
          get(reader.entries(), data, keys, gets);
          return watch.seconds() / static_cast<double>(gets);
        }},
       {"redis",
        [&] {
          return redis.seconds_an_operation(gets, depth, data.size(), {"GET", "k__rand_int__"});
        }}},
      fmt::format("a get of {} KiB from a redis-server on a Unix socket, through the handle "
                  "without other tiers, checksum verified, {}; redis-benchmark: {} pipelined on "
                  "one connection, {} bytes",
                  value_bytes / kib, how, depth, bytes));
}

void measure_stalled(row_run& run) {
  const redis_process redis(run.how().directory);
  const dataset data(run.scaled(10'000, 100), kib);
  std::vector<double> first_ms;
  std::vector<double> added_ms;
  for (unsigned round = 0; round < run.how().rounds; ++round) {
    remote_cache asker(redis.url(), std::chrono::milliseconds{100});
    redis.freeze(true);
    const stopwatch whole;
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (asker.entries().get(data.key(i))->hit()) throw std::runtime_error("a hit out of nowhere");
      if (i == 0) first_ms.push_back(whole.seconds() * 1e3);
    }
    added_ms.push_back(whole.seconds() * 1e3);
    redis.freeze(false);
  }
  run.value("first_ms", median(first_ms),
            "the first get of a Redis that takes connections and never answers, deadline 100 ms");
  run.value(
      "all_ms", median(added_ms),
      fmt::format("that and all of {} gets that follow, one after the other", data.size() - 1));
}

} // namespace

void add_remote_handle_rows(registry& all) {
  const std::pair<const char*, std::size_t> sizes[] = {
      {"remote.get", kib}, {"remote.large.16k", 16 * kib}, {"remote.large.256k", 256 * kib}};
  for (const auto& [name, bytes] : sizes)
    all.rows.push_back(
        {name,
         fmt::format("pipelined gets of {} KiB from a local Redis, through the handle",
                     bytes / kib),
         {"redis"},
         [bytes = bytes](row_run& run) {
           measure_gets(run, bytes, get_concurrently, "64 coroutines");
         }});
  all.rows.push_back(
      {"remote.wait",
       "gets of 1 KiB from a local Redis by one thread that waits for each",
       {"redis"},
       [](row_run& run) { measure_gets(run, kib, get_each, "64 in flight, waited for in turn"); }});
  all.rows.push_back(
      {"remote.many",
       "get_many of 64 from a local Redis, through the handle",
       {"redis"},
       [](row_run& run) { measure_gets(run, kib, get_together, "get_many of 64"); }});
  all.rows.push_back(
      {"remote.cluster.get",
       "pipelined gets of 1 KiB from a local Redis Cluster, through the handle",
       {"redis"},
       [](row_run& run) { measure_cluster(run, get_concurrently, "64 coroutines"); }});
  all.rows.push_back({"remote.cluster.many",
                      "get_many of 64 from a local Redis Cluster, through the handle",
                      {"redis"},
                      [](row_run& run) { measure_cluster(run, get_together, "get_many of 64"); }});
  all.rows.push_back(
      {"stalled", "what a Redis that never answers adds to gets", {}, measure_stalled});
}

} // namespace hearth::bench
