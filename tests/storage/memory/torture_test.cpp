// Readers on several threads against an owner that constantly inserts, replaces, erases, evicts and
// grows. Threads begin and end; handles are copied, kept, passed to other threads and outlive their
// index. A sanitizer's run finds uses after free; every build finds wrong bytes, versions that go
// back, and misses of entries that are there.
//
// A run is a number of rounds, each with its own index and threads. HEARTH_TORTURE_SECONDS=n runs
// for n seconds a test instead of a few rounds.
#include "storage/memory/graveyard.hpp"
#include "storage/memory/memory_index.hpp"
#include "tests/storage/memory/memory_keys.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace torture_test {

using namespace hearth;
using namespace hearth::storage;
using namespace hearth::test;

namespace {

constexpr std::size_t key_count = 3000;
constexpr std::size_t lasting = 100; // the first keys: never erased
constexpr int reader_threads = 3;

struct plan {
  memory_index_options options;
  bool lasting_never_miss; // the budget is large enough for all
  std::size_t writes;      // per round
  std::size_t largest;     // largest payload in bytes
};

struct mailbox {
  std::mutex mutex;
  std::deque<artifact> artifacts;

  void send(artifact a) {
    const std::lock_guard lock(mutex);
    if (artifacts.size() < 200) artifacts.push_back(std::move(a));
  }
  artifact receive() {
    const std::lock_guard lock(mutex);
    if (artifacts.empty()) return {};
    auto a = std::move(artifacts.front());
    artifacts.pop_front();
    return a;
  }
};

struct round {
  explicit round(const plan& p)
      : what(p)
      , index(std::make_unique<memory_index>(p.options)) {}

  const plan& what;
  std::unique_ptr<memory_index> index;
  std::array<std::atomic<std::uint64_t>, key_count> published{}; // the last version put
  mailbox mail;
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> reads{0}, hits{0}, wrong{0}, went_back{0}, false_misses{0};

  void check(const artifact& a) {
    if (a && !read_version(a).whole) wrong.fetch_add(1);
  }
};

const std::vector<std::string>& texts() {
  static const auto all = [] {
    std::vector<std::string> made;
    for (std::size_t i = 0; i < key_count; ++i)
      made.push_back(key_text(i));
    return made;
  }();
  return all;
}

// The short life of one reading thread.
class reader {
public:
  reader(round& r, std::uint64_t seed)
      : round_(r)
      , random_(seed) {}

  void live() {
    const auto reads = 2000 + random_() % 4000;
    for (max_kept_ = std::array{4, 40, 120}[random_() % 3];
         reads_ < reads && !round_.done.load(std::memory_order_relaxed); ++reads_)
      read_one();
    round_.reads.fetch_add(reads_);
    round_.hits.fetch_add(hits_);
  }

private:
  void read_one() {
    const auto number = random_() % 3 ? random_() % 300 : random_() % key_count;
    const auto at_least = round_.published[number].load(std::memory_order_acquire);
    auto found = round_.index->get(key_of(texts()[number]));
    if (!found) {
      if (round_.what.lasting_never_miss && number < lasting) round_.false_misses.fetch_add(1);
      return;
    }
    ++hits_;
    const auto seen = read_version(found);
    if (!seen.whole || seen.key != number) round_.wrong.fetch_add(1);
    if (seen.version < at_least) round_.went_back.fetch_add(1);
    dispose(std::move(found));
  }

  void dispose(artifact found) {
    switch (random_() % 6) {
    case 0: kept_.push_back(std::move(found)); break;
    case 1: kept_.push_back(found); break; // a copy: counts
    case 2: round_.mail.send(std::move(found)); break;
    case 3: round_.check(round_.mail.receive()); break;
    default: break;
    }
    while (kept_.size() > max_kept_) {
      auto& any = kept_[random_() % kept_.size()];
      round_.check(any);
      std::swap(any, kept_.back());
      kept_.pop_back();
    }
  }

  round& round_;
  std::mt19937_64 random_;
  std::vector<artifact> kept_;
  std::size_t max_kept_ = 4;
  std::uint64_t reads_ = 0, hits_ = 0;
};

class owner {
public:
  owner(round& r, std::uint64_t seed)
      : round_(r)
      , random_(seed) {
    for (std::size_t i = 0; i < lasting; ++i)
      put(i);
  }

  // Returns when all is written and the readers have made as many reads, or after a bound of
  // writes.
  void write_all() {
    const auto writes = round_.what.writes;
    for (std::size_t i = 0; i < writes || (round_.reads < writes && i < 20 * writes); ++i) {
      write_one();
      if (i % 512 == 0) {
        round_.index->drain_first_hits(100, [](std::uint32_t, std::string_view) {});
        std::this_thread::yield();
      }
    }
  }
  std::uint64_t max_bytes() const { return max_bytes_; }

private:
  void write_one() {
    const auto number = random_() % 3 ? random_() % 300 : random_() % key_count;
    const auto key = key_of(texts()[number]);
    if (number >= lasting && random_() % 3 == 0)
      round_.index->erase(key);
    else if (random_() % 2)
      put(number);
    else if (round_.index->insert(key, next_version(number)))
      published(number);
    if (random_() % 5000 == 0) round_.index->reclaim();
    max_bytes_ = std::max(max_bytes_, round_.index->stats().bytes_used);
  }
  void put(std::size_t number) {
    round_.index->put(key_of(texts()[number]), next_version(number));
    published(number);
  }
  artifact next_version(std::size_t number) {
    return versioned(number, versions_[number] + 1, 16 + random_() % round_.what.largest);
  }
  void published(std::size_t number) {
    round_.published[number].store(++versions_[number], std::memory_order_release);
  }

  round& round_;
  std::mt19937_64 random_;
  std::array<std::uint64_t, key_count> versions_{};
  std::uint64_t max_bytes_ = 0;
};

void run_round(const plan& p, std::uint64_t seed) {
  round r(p);
  owner writer(r, seed);
  std::vector<std::thread> threads;
  for (int t = 0; t < reader_threads; ++t)
    threads.emplace_back([&r, seed, t] {
      for (std::uint64_t life = 0; !r.done.load(std::memory_order_relaxed); ++life)
        std::thread([&] { reader(r, seed * 1000 + life * 10 + std::uint64_t(t)).live(); }).join();
    });
  writer.write_all();
  r.done.store(true);
  for (auto& t : threads)
    t.join();

  CHECK(r.hits > 0);
  CHECK(r.wrong == 0);
  CHECK(r.went_back == 0);
  CHECK(r.false_misses == 0);
  const auto stats = r.index->stats();
  CHECK(stats.hits == r.hits);
  CHECK(stats.hits + stats.misses == r.reads);
  // Each reader keeps at most 121 artifacts, and the mailbox 200.
  const auto held = (reader_threads * 121 + 200) * (p.largest + 256);
  CHECK(writer.max_bytes() <= p.options.budget_bytes + held);
  r.index.reset();
  for (const auto& a : r.mail.artifacts)
    r.check(a);
  CHECK(r.wrong == 0);
  r.mail.artifacts.clear();
  visit_graveyard();
  CHECK(buried_nodes() == 0);
}

void run(const plan& p, int rounds) {
  const auto* const seconds = std::getenv("HEARTH_TORTURE_SECONDS");
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(seconds ? std::atoi(seconds) : 0);
  for (std::uint64_t seed = 1;
       seed <= std::uint64_t(rounds) || std::chrono::steady_clock::now() < end; ++seed)
    run_round(p, seed);
}

} // namespace

TEST_CASE("memory: readers see whole versions while entries are evicted") {
  run({.options = {.budget_bytes = 512u << 10, .expected_entries = 16},
       .lasting_never_miss = false,
       .writes = 15'000,
       .largest = 3000},
      3);
}

TEST_CASE("memory: readers miss no entry that is there while tables grow") {
  run({.options = {.budget_bytes = 64u << 20, .expected_entries = 16},
       .lasting_never_miss = true,
       .writes = 6'000,
       .largest = 300},
      8);
}

} // namespace torture_test
