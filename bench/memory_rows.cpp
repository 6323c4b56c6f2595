// mem.*: hits in memory through the cache handle, against locked maps and tbb's concurrent one. All
// hold the same artifact type, return a reference of their own, and get the same keys. The peers
// hash as Hearth does. A second thread runs all the time, so that every count is atomic.
#include "bench/frame/timing.hpp"
#include "bench/rows.hpp"

#include <hearth/actors.hpp>
#include <hearth/hearth.hpp>

#include "messages/hash.hpp"

#include <cstdint>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <shared_mutex>
#include <stdexcept>
#include <string_view>
#include <tbb/concurrent_hash_map.h>
#include <unordered_map>
#include <vector>

namespace hearth::bench {
namespace {

constexpr std::size_t entries = 10'000;
constexpr std::size_t value_bytes = 1024;
constexpr std::size_t batch = 64;
constexpr std::size_t batches_in_flight = 16;
constexpr std::size_t futures_in_flight = 256;
constexpr std::size_t replaced_one_in = 20;
constexpr std::size_t order_size = 1 << 16;
// The number of turns of a few milliseconds each for a single thread. Several threads take one long
// turn, since the last may start some milliseconds after the first.
constexpr unsigned short_turns = 8;

struct key_hash {
  std::size_t operator()(const std::string& bytes) const noexcept { return fast_hash(bytes, 1); }
  static std::size_t hash(const std::string& bytes) noexcept { return fast_hash(bytes, 1); }
  static bool equal(const std::string& a, const std::string& b) noexcept { return a == b; }
};

template <class Mutex, template <class> class Reader>
class locked_map {
public:
  artifact get(const key& k) const {
    const Reader<Mutex> lock(mutex_);
    const auto found = map_.find(k.encoded());
    return found == map_.end() ? artifact{} : found->second;
  }
  void put(const key& k, const artifact& value) {
    const std::lock_guard lock(mutex_);
    map_.insert_or_assign(k.encoded(), value);
  }

private:
  mutable Mutex mutex_;
  std::unordered_map<std::string, artifact, key_hash> map_;
};

class tbb_map {
public:
  artifact get(const key& k) const {
    decltype(map_)::const_accessor found;
    return map_.find(found, k.encoded()) ? found->second : artifact{};
  }
  void put(const key& k, const artifact& value) {
    decltype(map_)::accessor at;
    map_.insert(at, k.encoded());
    at->second = value;
  }

private:
  tbb::concurrent_hash_map<std::string, artifact, key_hash> map_;
};

class handle {
public:
  handle()
      : runtime_(config{})
      , cache_(runtime_.open("bench").value()) {}
  artifact get(const key& k) const { return std::move(cache_.get(k)->value); }
  // The shard's actor replaces the entry; the benchmark does not wait for it.
  void put(const key& k, const artifact& value) { static_cast<void>(cache_.put_async(k, value)); }
  void finish_pending_work() { static_cast<void>(cache_.erase("nothing")); }
  const cache& open() const noexcept { return cache_; }

private:
  runtime runtime_;
  cache cache_;
};

struct fixture {
  std::vector<key> keys;
  std::vector<key> asked; // keys in random order
  handle ours;
  locked_map<std::mutex, std::lock_guard> mutex;
  locked_map<std::shared_mutex, std::shared_lock> shared_mutex;
  tbb_map tbb;

  fixture() {
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i < entries; ++i) {
      const auto first = random(), second = random(), third = random();
      keys.emplace_back(fmt::format("{:016x}{:016x}{:015x}", first, second, third >> 4));
      const auto value = artifact::make(std::string(value_bytes, 'x'));
      if (!ours.open().insert(keys.back(), value)) throw std::runtime_error("an insert failed");
      mutex.put(keys.back(), value);
      shared_mutex.put(keys.back(), value);
      tbb.put(keys.back(), value);
    }
    for (std::size_t i = 0; i < order_size; ++i)
      asked.push_back(keys[random() % entries]);
  }
  const key& at(std::size_t i) const { return asked[i % order_size]; }
};

void require(const artifact& found) {
  if (!found) throw std::runtime_error("a key was not found");
}

struct workload {
  const char* name;
  const char* work;
  std::size_t readers;
  bool hot;
  bool replaces;
  std::vector<std::string> peers;
  bool reads = false; // every byte of a value that is found
};

// Reads a value as whole words, as a checksum or a copy would.
std::uint64_t sum_of(std::string_view bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i + sizeof sum <= bytes.size(); i += sizeof sum) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    sum += word;
  }
  return sum;
}

std::size_t start_of(std::size_t thread) { return thread * 7919; }

// Runs the readers, and a thread that replaces entries if there is one. Returns the seconds a get.
template <class Map>
double gets(fixture& f, Map& map, const workload& what, std::size_t count) {
  return seconds_an_operation(what.readers + what.replaces, [&](std::size_t thread) {
    if (thread == what.readers) {
      const auto puts = count * what.readers / replaced_one_in;
      for (std::size_t i = 0; i < puts; ++i)
        map.put(f.at(i * 31), artifact::make(std::string(value_bytes, 'y')));
      return std::size_t{0};
    }
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto found = map.get(what.hot ? f.keys[0] : f.at(start_of(thread) + i));
      require(found);
      if (what.reads) sum += sum_of(found.payload());
    }
    if (what.reads && sum == 0) throw std::runtime_error("the values are empty");
    return count;
  });
}

void measure_gets(row_run& run, const workload& what) {
  fixture f;
  const auto turns = what.readers == 1 ? short_turns : 1;
  const auto count = run.scaled(2'000'000 / turns, batch) / what.readers;
  std::vector<contender> all{{"hearth", [&] { return gets(f, f.ours, what, count); },
                              [&] { f.ours.finish_pending_work(); }}};
  for (const auto& peer : what.peers) {
    if (peer == "mutex")
      all.push_back({peer, [&] { return gets(f, f.mutex, what, count); }});
    else if (peer == "shared_mutex")
      all.push_back({peer, [&] { return gets(f, f.shared_mutex, what, count); }});
    else
      all.push_back({peer, [&] { return gets(f, f.tbb, what, count); }});
  }
  run.compare(all, "a hit", turns);
}

// Measures one thread with `count` keys against as many single gets of a locked map.
void measure_one_thread(row_run& run,
                        const std::function<void(fixture&, std::size_t count)>& ours) {
  fixture f;
  const auto count = run.scaled(1'024'000 / short_turns, batch * batches_in_flight);
  run.compare({{"hearth",
                [&] {
                  return seconds_an_operation(1, [&](std::size_t) {
                    ours(f, count);
                    return count;
                  });
                }},
               {"mutex",
                [&] {
                  return seconds_an_operation(1, [&](std::size_t) {
                    for (std::size_t i = 0; i < count; ++i)
                      require(f.mutex.get(f.at(i)));
                    return count;
                  });
                }}},
              "a hit", short_turns);
}

std::span<const key> batch_at(const fixture& f, std::size_t i) {
  return std::span(f.asked).subspan(i % order_size, batch);
}

void require_all(const lookup_list& found) {
  for (const auto& one : found)
    require(one->value);
}

void get_many(fixture& f, std::size_t count) {
  for (std::size_t i = 0; i < count; i += batch)
    require_all(f.ours.open().get_many(batch_at(f, i)));
}

void get_ready_futures(fixture& f, std::size_t count) {
  std::vector<future<lookup>> under_way;
  under_way.reserve(futures_in_flight);
  for (std::size_t i = 0; i < count;) {
    for (; under_way.size() < futures_in_flight && i < count; ++i)
      under_way.push_back(f.ours.open().get_async(f.at(i)));
    for (auto& one : under_way)
      require(one.get()->value);
    under_way.clear();
  }
}

void get_by_messages(fixture& f, std::size_t count) {
  std::deque<future<lookup_list>> under_way;
  for (std::size_t i = 0; i < count || !under_way.empty();) {
    for (; under_way.size() < batches_in_flight && i < count; i += batch)
      under_way.push_back(get_by_message(f.ours.open(), batch_at(f, i)));
    require_all(under_way.front().get().value());
    under_way.pop_front();
  }
}

// Inserts of new keys, one at a time: each is waited for.
void measure_inserts(row_run& run) {
  const auto count = run.scaled(20'000, batch);
  const auto value = artifact::make(std::string(value_bytes, 'x'));
  std::int64_t number = 0;
  handle ours;
  locked_map<std::mutex, std::lock_guard> mutex;
  run.compare({{"hearth",
                [&] {
                  return seconds_an_operation(1, [&](std::size_t) {
                    for (std::size_t i = 0; i < count; ++i)
                      if (!ours.open().insert(key::integer(++number), value))
                        throw std::runtime_error("an insert failed");
                    return count;
                  });
                }},
               {"mutex",
                [&] {
                  return seconds_an_operation(1, [&](std::size_t) {
                    for (std::size_t i = 0; i < count; ++i)
                      mutex.put(key::integer(++number), value);
                    return count;
                  });
                }}},
              "an insert");
}

const std::vector<workload>& get_rows() {
  static const std::vector<std::string> three{"mutex", "shared_mutex", "tbb"};
  static const std::vector<workload> rows{
      {"mem.get.1t", "hits through the handle, 1 thread", 1, false, false, three},
      {"mem.get.2t", "hits through the handle, 2 threads", 2, false, false, three},
      {"mem.get.mixed", "2 threads hit while 5% of the entries asked for are replaced", 2, false,
       true, three},
      {"mem.get.hot", "hits of one key, 2 threads", 2, true, false, three},
      {"mem.read.1t", "hits whose bytes are read, 1 thread", 1, false, false, three, true},
      {"mem.read.2t", "hits whose bytes are read, 2 threads", 2, false, false, three, true},
  };
  return rows;
}

} // namespace

void add_memory_rows(registry& all) {
  const std::string what = "; 10k keys of 49 bytes, 1 KiB";
  for (const auto& one : get_rows())
    all.rows.push_back(
        {one.name, one.work + what, one.peers, [&one](row_run& run) { measure_gets(run, one); }});
  const auto add = [&](const char* name, const char* work, auto ours) {
    all.rows.push_back(
        {name, work + what, {"mutex"}, [ours](row_run& run) { measure_one_thread(run, ours); }});
  };
  add("mem.many", "get_many of 64, hits", get_many);
  add("mem.async.ready", "256 in flight get_async, hits", get_ready_futures);
  add("mem.async.message", "16 batches of 64 by messages alone", get_by_messages);
  all.rows.push_back({"mem.sync_insert",
                      "inserts of 1 KiB through the handle, each waited for",
                      {"mutex"},
                      measure_inserts});
}

} // namespace hearth::bench
