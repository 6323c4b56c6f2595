// Threads that end, processes that fork, and the artifacts that they hold.
#include "storage/memory/graveyard.hpp"
#include "storage/memory/hazard.hpp"
#include "storage/memory/memory_index.hpp"
#include "tests/storage/memory/memory_keys.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace lifetimes_test {

using namespace hearth;
using namespace hearth::storage;
using namespace hearth::test;

namespace {

std::atomic<int> found_while_ending{0};

// Reads when its thread ends, before or after the thread gave its record back.
struct reads_at_the_end {
  const memory_index* index = nullptr;
  artifact kept;
  ~reads_at_the_end() {
    if (!index) return;
    for (int i = 0; i < 100; ++i) {
      kept = index->get(key_of("k"));
      if (kept.payload() == "payload") found_while_ending.fetch_add(1);
    }
  }
};

thread_local reads_at_the_end made_before_the_record;
thread_local reads_at_the_end made_after_the_record;

} // namespace

TEST_CASE("memory: destructors of thread_local objects may read") {
  memory_index index;
  index.insert(key_of("k"), artifact::make("payload"));
  found_while_ending = 0;
  std::size_t records = 0;
  for (int i = 0; i < 10; ++i) {
    std::thread([&] {
      made_before_the_record.index = &index;
      CHECK(index.get(key_of("k")));
      made_after_the_record.index = &index;
    }).join();
    if (i == 0) records = hazard_registry::of_process().size();
  }
  CHECK(found_while_ending == 2000);
  CHECK(hazard_registry::of_process().size() == records);
}

TEST_CASE("memory: a thread that ended early leaves no unused slot behind") {
  auto index = std::make_unique<memory_index>();
  index->insert(key_of("k"), artifact::make("payload"));
  std::thread([&] { made_before_the_record.index = index.get(); }).join();
  index.reset();
  CHECK(buried_nodes() == 0);
}

TEST_CASE("memory: handles made by one thread are dropped by another") {
  memory_index index;
  for (std::uint64_t i = 0; i < 64; ++i)
    index.insert(key_of(key_text(i)), versioned(i, 1, 64));
  std::vector<artifact> passed;
  for (int round = 0; round < 20; ++round) {
    std::thread([&] {
      for (std::uint64_t i = 0; i < 64; ++i)
        passed.push_back(index.get(key_of(key_text(i))));
    }).join();
    std::thread([&] {
      for (const auto& a : passed)
        CHECK(read_version(a).whole);
      passed.clear();
    }).join();
  }
  index.clear();
  index.reclaim();
  // No slot is taken any more.
  CHECK(index.stats().entries == 0);
  CHECK(hazards_held() == 0);
}

TEST_CASE("memory: a forked child reads what was there") {
  memory_index index;
  // All texts are made here: another thread may hold a sanitizer's allocator lock at the fork,
  // which then stays locked in the child.
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    texts.push_back(key_text(i));
    index.insert(key_of(texts.back()), versioned(i, 1, 64));
  }
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done.load(std::memory_order_relaxed))
      if (!index.get(key_of(texts[1]))) std::abort();
  });
  const auto held = index.get(key_of(key_text(7)));
  const auto child = ::fork();
  if (child == 0) {
    bool good = read_version(held).whole;
    for (std::uint64_t i = 0; i < 1000; ++i)
      good &= read_version(index.get(key_of(texts[i]))).key == i;
    good &= !index.get(key_of("nobody"));
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  REQUIRE(child > 0);
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  done = true;
  reader.join();
}

} // namespace lifetimes_test
