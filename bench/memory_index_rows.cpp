// mem.index.*: hits of the memory index alone, against a mutex and an unordered_map that holds the
// same artifacts and copies the same reference.
#include "bench/frame/timing.hpp"
#include "bench/rows.hpp"

#include "messages/hash.hpp"
#include "storage/memory/memory_index.hpp"

#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <unordered_map>

namespace hearth::bench {
namespace {

constexpr std::size_t entries = 10'000;
constexpr std::size_t value_bytes = 1024;
constexpr std::size_t batch = 64;
constexpr std::size_t order_mask = 0xffff;

struct key_hash {
  std::size_t operator()(const std::string& text) const noexcept { return fast_hash(text, 1); }
};

struct fixture {
  std::vector<std::string> keys;
  std::vector<std::uint32_t> order; // the order of the requested keys
  storage::memory_index index{{.budget_bytes = 64u << 20, .expected_entries = entries}};
  std::unordered_map<std::string, artifact, key_hash> map;
  std::mutex mutex;

  fixture() {
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i < entries; ++i) {
      const auto first = random(), second = random(), third = random();
      keys.push_back(fmt::format("f{:016x}{:016x}{:016x}", first, second, third));
      const auto value = artifact::make(std::string(value_bytes, 'x'));
      index.insert({1, keys.back(), fast_hash(keys.back(), 1)}, value);
      map.emplace(keys.back(), value);
    }
    for (std::size_t i = 0; i <= order_mask; ++i)
      order.push_back(static_cast<std::uint32_t>(random() % entries));
  }

  artifact from_index(const std::string& key) const {
    return index.get({1, key, fast_hash(key, 1)});
  }
  artifact from_map(const std::string& key) {
    const std::lock_guard lock(mutex);
    const auto found = map.find(key);
    return found == map.end() ? artifact{} : found->second;
  }
  const std::string& key(std::size_t at, bool hot) const {
    return keys[hot ? 0 : order[at & order_mask]];
  }
};

struct workload {
  const char* name;
  const char* work;
  std::size_t threads;
  bool hot;
  bool batched;
};

constexpr workload workloads[] = {
    {"1t", "hits of the memory index, 1 thread", 1, false, false},
    {"2t", "hits of the memory index, 2 threads", 2, false, false},
    {"hot", "hits of one key, 2 threads", 2, true, false},
    {"many", "hits in batches of 64, 1 thread", 1, false, true},
};

void require(const artifact& found) {
  if (!found) throw std::runtime_error("a key was not found");
}

// Prefetches each key of a batch into the processor's cache before it looks the first one up.
void get_batch(const fixture& f, std::size_t at) {
  std::uint64_t hashes[batch];
  for (std::size_t i = 0; i < batch; ++i) {
    hashes[i] = fast_hash(f.key(at + i, false), 1);
    f.index.prefetch(hashes[i]);
  }
  for (std::size_t i = 0; i < batch; ++i)
    f.index.prefetch_entry(hashes[i], f.key(at + i, false).size());
  for (std::size_t i = 0; i < batch; ++i)
    require(f.index.get({1, f.key(at + i, false), hashes[i]}));
}

void measure(row_run& run, const workload& what) {
  fixture f;
  const auto gets = run.scaled(2'000'000, batch) / what.threads / batch * batch;
  const auto start = [](std::size_t thread) { return thread * 7919; };
  // A second thread runs all the time, so that the map's reference counts are atomic, as in a real
  // program.
  const auto ours = [&] {
    return seconds_an_operation(what.threads, [&](std::size_t thread) {
      for (std::size_t i = 0; i < gets; i += what.batched ? batch : 1) {
        if (what.batched)
          get_batch(f, start(thread) + i);
        else
          require(f.from_index(f.key(start(thread) + i, what.hot)));
      }
      return gets;
    });
  };
  const auto theirs = [&] {
    return seconds_an_operation(what.threads, [&](std::size_t thread) {
      for (std::size_t i = 0; i < gets; ++i)
        require(f.from_map(f.key(start(thread) + i, what.hot)));
      return gets;
    });
  };
  run.compare({{"hearth", ours}, {"mutex", theirs}}, "a hit");
}

} // namespace

void add_memory_index_rows(registry& all) {
  for (const auto& one : workloads)
    all.rows.push_back({std::string("mem.index.") + one.name,
                        std::string(one.work) + "; 10k keys of 49 bytes, 1 KiB",
                        {"mutex"},
                        [&one](row_run& run) { measure(run, one); }});
}

} // namespace hearth::bench
