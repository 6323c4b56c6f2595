// Hits of the memory index beside a mutex and an unordered_map that holds the same artifacts and
// copies the same reference. They take turns in one process, medians of the rounds; a second thread
// lives all the time, so that the peers' counts are atomic. Prints `RATIO row/peer ratio`.
//
// Usage: memory_gets [SECONDS_A_TURN] [ROUNDS]; with HEARTH_GETS=n only n gets of the index, for
// callgrind.
#include "messages/hash.hpp"
#include "storage/memory/memory_index.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

using namespace hearth;
using namespace hearth::storage;

constexpr std::size_t entries = 10'000;
constexpr std::size_t batch = 64;

struct hash {
  std::size_t operator()(const std::string& text) const noexcept { return fast_hash(text, 1); }
};

struct fixture {
  std::vector<std::string> keys;
  std::vector<std::uint32_t> order; // which key is asked for next
  memory_index index{{.budget_bytes = 64u << 20, .expected_entries = entries}};
  std::unordered_map<std::string, artifact, hash> map;
  std::mutex mutex;

  fixture() {
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i < entries; ++i) {
      char text[64];
      std::snprintf(text, sizeof text, "f%016lx%016lx%016lx", random(), random(), random());
      keys.emplace_back(text);
      const auto value = artifact::make(std::string(1024, 'x'));
      index.insert({1, keys.back(), fast_hash(keys.back(), 1)}, value);
      map.emplace(keys.back(), value);
    }
    for (std::size_t i = 0; i < 1u << 16; ++i)
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
};

using turn = std::function<std::uint64_t(fixture&, std::size_t thread, const std::atomic<bool>&)>;

// Gets in random order (or of one key) until told to stop; how many.
template <class Get>
turn gets(Get get, bool hot) {
  return [get, hot](fixture& f, std::size_t thread, const std::atomic<bool>& stop) {
    std::uint64_t done = 0, bytes = 0;
    for (std::size_t at = thread * 7919; !stop.load(std::memory_order_relaxed);)
      for (int i = 0; i < 64; ++i, ++done) {
        const auto& key = f.keys[hot ? 0 : f.order[at++ & 0xffff]];
        const auto found = get(f, key);
        if (!found) std::abort();
        bytes += reinterpret_cast<std::uintptr_t>(found.body()) & 1;
      }
    return done + bytes;
  };
}

std::uint64_t batched(fixture& f, std::size_t thread, const std::atomic<bool>& stop) {
  std::uint64_t done = 0;
  std::uint64_t hashes[batch];
  for (std::size_t at = thread * 7919; !stop.load(std::memory_order_relaxed); at += batch) {
    const auto key = [&](std::size_t i) -> const std::string& {
      return f.keys[f.order[(at + i) & 0xffff]];
    };
    for (std::size_t i = 0; i < batch; ++i) {
      hashes[i] = fast_hash(key(i), 1);
      f.index.prefetch(hashes[i]);
    }
    for (std::size_t i = 0; i < batch; ++i)
      f.index.prefetch_entry(hashes[i]);
    for (std::size_t i = 0; i < batch; ++i, ++done)
      if (!f.index.get({1, key(i), hashes[i]})) std::abort();
  }
  return done;
}

// Millions a second, all threads together.
double run(fixture& f, const turn& what, std::size_t threads, double seconds) {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> total{0};
  std::vector<std::thread> running;
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t t = 0; t < threads; ++t)
    running.emplace_back([&, t] { total += what(f, t, stop); });
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop = true;
  for (auto& thread : running)
    thread.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return double(total.load()) / took.count() / 1e6;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

struct row {
  const char* name;
  turn ours, peer;
  std::size_t threads;
};

} // namespace

int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 0.2;
  const int rounds = count > 2 ? std::atoi(arguments[2]) : 7;
  fixture f;
  if (const auto* const only = std::getenv("HEARTH_GETS")) {
    const int wanted = std::atoi(only);
    for (int i = 0; i < wanted; ++i)
      if (!f.from_index(f.keys[f.order[std::size_t(i) & 0xffff]])) return 1;
    return 0;
  }
  const auto index = [](const fixture& x, const std::string& key) { return x.from_index(key); };
  const auto map = [](fixture& x, const std::string& key) { return x.from_map(key); };
  const std::vector<row> rows{{"mem.index.1t", gets(index, false), gets(map, false), 1},
                              {"mem.index.2t", gets(index, false), gets(map, false), 2},
                              {"mem.index.hot", gets(index, true), gets(map, true), 2},
                              {"mem.index.many", batched, gets(map, false), 1},
                              {"mem.index.many.2t", batched, gets(map, false), 2}};
  std::printf("%zu keys of %zu bytes, artifacts of 1 KiB, %d rounds of %.2f s\n", entries,
              f.keys[0].size(), rounds, seconds);
  for (const auto& r : rows) {
    std::vector<double> ours, peer;
    for (int i = 0; i < rounds; ++i) {
      ours.push_back(run(f, r.ours, r.threads, seconds));
      peer.push_back(run(f, r.peer, r.threads, seconds));
    }
    std::printf("%s: %.1f M/s, mutex %.1f M/s\nRATIO %s/mutex %.2f\n", r.name, median(ours),
                median(peer), r.name, median(ours) / median(peer));
  }
}
