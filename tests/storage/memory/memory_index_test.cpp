#include "storage/memory/memory_index.hpp"

#include "messages/expiry.hpp"
#include "messages/unix_time.hpp"
#include "storage/memory/graveyard.hpp"
#include "storage/memory/hazard.hpp"
#include "tests/storage/memory/memory_keys.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace memory_index_test {

using namespace hearth;
using namespace hearth::storage;
using namespace hearth::test;

TEST_CASE("memory: an inserted entry is found and the first writer wins") {
  memory_index index;
  const auto key = key_of("k");
  CHECK_FALSE(index.get(key));
  CHECK(index.insert(key, artifact::make("first")));
  CHECK_FALSE(index.insert(key, artifact::make("second")));
  CHECK(index.get(key).payload() == "first");
  const auto stats = index.stats();
  CHECK(stats.entries == 1);
  CHECK(stats.inserted == 1);
  CHECK(stats.hits == 1);
  CHECK(stats.misses == 1);
}

TEST_CASE("memory: keys of any length and of two caches are distinct") {
  memory_index index;
  for (std::size_t size = 0; size < 700; ++size) {
    const std::string text(size, 'x');
    CHECK(index.insert({1, text, 42}, artifact::make("1:" + std::to_string(size))));
    CHECK(index.insert({2, text, 42}, artifact::make("2:" + std::to_string(size))));
    CHECK(index.get({1, text, 42}).payload() == "1:" + std::to_string(size));
    CHECK(index.get({2, text, 42}).payload() == "2:" + std::to_string(size));
    CHECK(index.erase({1, text, 42}));
    CHECK_FALSE(index.get({1, text, 42}));
    CHECK(index.erase({2, text, 42}));
  }
}

TEST_CASE("memory: keys that differ in one byte are told apart") {
  memory_index index;
  for (std::size_t size = 1; size <= 130; ++size) {
    const std::string text(size, 'x');
    index.put({1, text, 7}, artifact::make("x"));
    for (std::size_t i = 0; i < size; ++i) {
      auto other = text;
      other[i] = 'y';
      CHECK_FALSE(index.get({1, other, 7}));
    }
    CHECK(index.get({1, text, 7}));
    index.erase({1, text, 7});
  }
}

TEST_CASE("memory: put replaces and an artifact that a reader holds is unchanged") {
  memory_index index;
  const auto key = key_of("k");
  index.put(key, artifact::make("old"));
  const auto held = index.get(key);
  index.put(key, artifact::make("new"));
  index.reclaim();
  CHECK(held.payload() == "old");
  CHECK(index.get(key).payload() == "new");
  CHECK(index.stats().entries == 1);
}

TEST_CASE("memory: erase and clear make misses and leave held artifacts alone") {
  memory_index index;
  std::vector<artifact> held;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const auto text = key_text(i);
    index.insert(key_of(text), versioned(i, 1, 64));
    held.push_back(index.get(key_of(text)));
  }
  CHECK(index.erase(key_of(key_text(0))));
  CHECK_FALSE(index.erase(key_of(key_text(0))));
  CHECK_FALSE(index.get(key_of(key_text(0))));
  index.clear();
  index.reclaim();
  CHECK(index.stats().entries == 0);
  CHECK(index.stats().erased == 200);
  for (std::uint64_t i = 0; i < 200; ++i) {
    CHECK_FALSE(index.get(key_of(key_text(i))));
    CHECK(read_version(held[i]).whole);
    CHECK(read_version(held[i]).key == i);
  }
}

TEST_CASE("memory: a table that grows loses nothing at any step") {
  memory_index index({.budget_bytes = 256u << 20, .expected_entries = 16});
  constexpr std::uint64_t count = 6000;
  for (std::uint64_t i = 0; i < count; ++i) {
    REQUIRE(index.insert(key_of(key_text(i)), versioned(i, 1, 16)));
    // A key that is being moved, an old one and the newest.
    for (const auto k : {i / 2, i / 7, i})
      REQUIRE(index.get(key_of(key_text(k))));
    REQUIRE_FALSE(index.insert(key_of(key_text(i / 3)), versioned(i, 2, 16)));
    REQUIRE_FALSE(index.get(key_of(key_text(i + count))));
  }
  for (std::uint64_t i = 0; i < count; ++i)
    REQUIRE(read_version(index.get(key_of(key_text(i)))).key == i);
  CHECK(index.stats().entries == count);
  CHECK(index.stats().evicted == 0);
}

TEST_CASE("memory: many keys of one hash evict one another and no other key") {
  memory_index index;
  for (std::uint64_t i = 0; i < 100; ++i)
    index.insert(key_of(key_text(i)), versioned(i, 1, 16));
  const std::uint64_t hash = 0x123456789abcdef0;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const auto text = "flood" + std::to_string(i);
    CHECK(index.insert({1, text, hash}, versioned(i, 1, 16)));
    REQUIRE(read_version(index.get({1, text, hash})).key == i);
  }
  std::uint64_t left = 0;
  for (std::uint64_t i = 0; i < 100; ++i)
    left += bool(index.get(key_of(key_text(i))));
  CHECK(left >= 90);
  CHECK(index.stats().entries < 350);
}

TEST_CASE("memory: an artifact larger than a fourth of the budget is refused") {
  memory_index index({.budget_bytes = 1u << 20});
  const auto key = key_of("k");
  const auto large = artifact::make(std::string(300u << 10, 'x'));
  CHECK(index.insert(key, large));
  CHECK_FALSE(index.get(key));
  CHECK(index.stats().refused == 1);
  index.put(key, artifact::make("small"));
  CHECK_FALSE(index.insert(key, large));
  CHECK(index.get(key).payload() == "small");
  index.put(key, large);
  CHECK_FALSE(index.get(key));
  CHECK(index.insert(key, artifact{}));
  CHECK_FALSE(index.get(key));
}

TEST_CASE("memory: the budget holds and unreferenced entries are freed") {
  constexpr std::uint64_t budget = 2u << 20;
  memory_index index({.budget_bytes = budget});
  std::uint64_t most = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    index.insert(key_of(key_text(i)), versioned(i, 1, 16 + i % 3000));
    most = std::max(most, index.stats().bytes_used);
  }
  CHECK(most <= budget);
  CHECK(index.stats().bytes_used > budget / 2);
  CHECK(index.stats().evicted > 15'000);
  CHECK(index.get(key_of(key_text(19'999))));
}

TEST_CASE("memory: erased artifacts that readers hold count until they are released") {
  constexpr std::uint64_t budget = 4u << 20;
  constexpr std::size_t size = 4u << 10;
  memory_index index({.budget_bytes = budget});
  std::vector<artifact> held;
  for (std::uint64_t i = 0; i < hazard_record::slot_count; ++i) {
    index.insert(key_of(key_text(i)), versioned(i, 1, size));
    held.push_back(index.get(key_of(key_text(i))));
    index.erase(key_of(key_text(i)));
  }
  index.reclaim();
  CHECK(index.stats().entries == 0);
  CHECK(index.stats().bytes_used >= hazard_record::slot_count * size);
  std::uint64_t most = 0;
  const auto fill = [&](std::uint64_t from) {
    for (std::uint64_t i = from; i < from + 1000; ++i) {
      index.insert(key_of(key_text(i)), versioned(i, 1, size));
      most = std::max(most, index.stats().bytes_used);
    }
    return index.stats().entries;
  };
  const auto with_held = fill(1000);
  for (const auto& a : held)
    CHECK(read_version(a).whole);
  held.clear();
  index.reclaim();
  CHECK(fill(2000) >= with_held + hazard_record::slot_count * 9 / 10);
  CHECK(most <= budget);
}

TEST_CASE("memory: more artifacts than slots are all held") {
  memory_index index;
  std::vector<artifact> held;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    index.insert(key_of(key_text(i)), versioned(i, 1, 32));
    held.push_back(index.get(key_of(key_text(i))));
  }
  index.clear();
  index.reclaim();
  for (std::uint64_t i = 0; i < 1000; ++i) {
    CHECK(read_version(held[i]).whole);
    CHECK(read_version(held[i]).key == i);
  }
}

TEST_CASE("memory: first hits are reported once each and in batches") {
  memory_index index;
  for (std::uint64_t i = 0; i < 500; ++i)
    index.insert(key_of(key_text(i), 3), versioned(i, 1, 16));
  for (int round = 0; round < 3; ++round)
    for (std::uint64_t i = 0; i < 500; i += 2)
      CHECK(index.get(key_of(key_text(i), 3)));
  std::set<std::string> told;
  for (int call = 0; call < 10; ++call) {
    std::size_t visited = 0;
    index.drain_first_hits(60, [&](std::uint32_t cache, std::string_view bytes) {
      CHECK(cache == 3);
      CHECK(told.insert(std::string(bytes)).second);
      ++visited;
    });
    CHECK(visited <= 60);
  }
  CHECK(told.size() == 250);
  for (std::uint64_t i = 0; i < 500; i += 2)
    CHECK(told.contains(key_text(i)));
}

TEST_CASE("memory: an entry that was removed before its first hit was reported is not reported") {
  memory_index index;
  for (std::uint64_t i = 0; i < 300; ++i) {
    index.insert(key_of(key_text(i)), versioned(i, 1, 16));
    CHECK(index.get(key_of(key_text(i))));
  }
  for (std::uint64_t i = 0; i < 300; i += 3)
    index.erase(key_of(key_text(i)));
  for (std::uint64_t i = 1; i < 300; i += 3)
    index.put(key_of(key_text(i)), versioned(i, 2, 16));
  index.reclaim();
  std::size_t told = 0;
  index.drain_first_hits(1000, [&](std::uint32_t, std::string_view) { ++told; });
  CHECK(told == 100);
}

TEST_CASE("memory: handles outlive their index") {
  std::vector<artifact> held;
  {
    memory_index index;
    for (std::uint64_t i = 0; i < 100; ++i) {
      index.insert(key_of(key_text(i)), versioned(i, 1, 100));
      held.push_back(index.get(key_of(key_text(i))));
    }
  }
  CHECK(buried_nodes() >= 1);
  for (std::uint64_t i = 0; i < 100; ++i)
    CHECK(read_version(held[i]).key == i);
  const auto copy = held.front();
  held.clear();
  visit_graveyard();
  CHECK(buried_nodes() == 0);
  CHECK(read_version(copy).whole);
}

TEST_CASE("memory: a thread that ended leaves its artifacts and its record to others") {
  memory_index index;
  index.insert(key_of("k"), artifact::make("payload"));
  artifact passed;
  std::thread([&] { passed = index.get(key_of("k")); }).join();
  index.erase(key_of("k"));
  index.reclaim();
  CHECK(passed.payload() == "payload");
  const auto records = hazard_registry::of_process().size();
  for (int i = 0; i < 20; ++i)
    std::thread([&] { CHECK_FALSE(index.get(key_of("k"))); }).join();
  CHECK(hazard_registry::of_process().size() == records);
  CHECK(passed.payload() == "payload");
}

TEST_CASE("memory: random operations agree with a model where keys crowd together") {
  // 40 keys share four home buckets, the last ones of the table, so that searches are long and wrap
  // around; the other keys make the table grow meanwhile.
  memory_index index({.budget_bytes = 64u << 20, .expected_entries = 16});
  std::map<std::uint64_t, std::uint64_t> model; // key to version
  std::mt19937_64 random(1);
  const auto crowded = [](std::uint64_t number, const std::string& text) {
    const auto hash = fast_hash(text, 1);
    return memory_key{1, text, number < 40 ? hash | 0xffc : hash};
  };
  for (std::uint64_t step = 1; step <= 20'000; ++step) {
    const auto number = random() % (step < 10'000 ? 60 : 2000);
    const auto text = key_text(number);
    const auto key = crowded(number, text);
    switch (random() % 4) {
    case 0:
      REQUIRE(index.insert(key, versioned(number, step, 16)) == !model.contains(number));
      model.emplace(number, step);
      break;
    case 1:
      index.put(key, versioned(number, step, 16));
      model[number] = step;
      break;
    case 2: REQUIRE(index.erase(key) == (model.erase(number) == 1)); break;
    default:
      const auto found = index.get(key);
      REQUIRE(bool(found) == model.contains(number));
      if (found) REQUIRE(read_version(found).version == model[number]);
    }
    REQUIRE(index.stats().entries == model.size());
  }
  CHECK(index.stats().evicted == 0);
  CHECK(hazards_held() == 0);
}

TEST_CASE("memory: entries that come and go for ever leave nothing behind") {
  memory_index index({.budget_bytes = 8u << 20});
  index.insert(key_of("stays"), artifact::make("x"));
  const auto cycle = [&] {
    for (std::uint64_t i = 0; i < 10'000; ++i) {
      const auto text = key_text(i);
      index.insert(key_of(text), versioned(i, 1, 16));
      if (i % 2) CHECK(index.get(key_of(text)));
      index.erase(key_of(text));
    }
    index.reclaim();
    return index.stats().bytes_used;
  };
  const auto once = cycle();
  CHECK(cycle() <= once);
  CHECK(cycle() <= once);
  CHECK(index.stats().evicted == 0);
  CHECK(index.get(key_of("stays")));
}

TEST_CASE("memory: more indexes than tallies still count separately") {
  std::vector<std::unique_ptr<memory_index>> indexes;
  for (std::uint64_t i = 0; i < hazard_record::tally_count + 10; ++i) {
    indexes.push_back(std::make_unique<memory_index>());
    indexes.back()->insert(key_of("k"), artifact::make("x"));
    for (std::uint64_t n = 0; n < i; ++n)
      CHECK(indexes.back()->get(key_of("k")));
    CHECK_FALSE(indexes.back()->get(key_of("none")));
  }
  for (std::uint64_t i = 0; i < indexes.size(); ++i) {
    CHECK(indexes[i]->stats().hits == i);
    CHECK(indexes[i]->stats().misses == 1);
  }
  indexes.clear();
  const memory_index fresh;
  CHECK(fresh.stats().hits == 0);
  CHECK(fresh.stats().misses == 0);
}

TEST_CASE("memory: an index without budget refuses all") {
  for (const std::uint64_t budget : {0u, 100u, 5000u}) {
    memory_index index({.budget_bytes = budget});
    CHECK(index.insert(key_of("k"), artifact::make(std::string(2000, 'x'))));
    index.put(key_of("k"), artifact::make(std::string(2000, 'x')));
    CHECK_FALSE(index.get(key_of("k")));
    CHECK(index.stats().refused == 2);
  }
}

TEST_CASE("memory: a growing table is completed when the owner is idle") {
  memory_index index({.budget_bytes = 64u << 20, .expected_entries = 16});
  // A page of buckets takes 224 entries, and the inserts after that move eight buckets each.
  constexpr std::uint64_t count = 229;
  for (std::uint64_t i = 0; i < count; ++i)
    index.insert(key_of(key_text(i)), versioned(i, 1, 16));
  const auto growing = index.stats().bytes_used;
  index.reclaim();
  CHECK(index.stats().bytes_used == growing - 4096);
  for (std::uint64_t i = 0; i < count; ++i)
    CHECK(index.get(key_of(key_text(i))));
}

TEST_CASE("memory: a cache with a share fills no more and loses nothing to others") {
  memory_index index({.budget_bytes = 1u << 20});
  constexpr std::uint64_t share = 256u << 10;
  index.set_share(2, share);
  const auto key = [](std::uint32_t cache, const std::string& text) {
    return memory_key{cache, text, fast_hash(text, cache)};
  };
  const auto count_of = [&](std::uint32_t cache) {
    std::uint64_t bytes = 0, entries = 0;
    index.each(cache, [&](std::string_view, const artifact& a) {
      ++entries;
      bytes += a.payload().size();
    });
    return std::pair(entries, bytes);
  };
  for (std::uint64_t i = 0; i < 100; ++i)
    index.insert(key(2, key_text(i)), versioned(i, 1, 1000));
  for (std::uint64_t i = 0; i < 5000; ++i)
    index.insert(key(1, key_text(i)), versioned(i, 1, 1000));
  CHECK(count_of(2).first == 100);
  CHECK(index.stats().evicted > 0);
  for (std::uint64_t i = 0; i < 5000; ++i)
    index.insert(key(2, key_text(i)), versioned(i, 1, 1000));
  CHECK(count_of(2).second <= share);
  CHECK(count_of(2).second > share / 2);
  CHECK(count_of(1).second > (1u << 20) / 2);
  CHECK(index.stats().bytes_used <= 1u << 20);
  index.insert(key(2, "large"), versioned(1, 1, share / 3));
  CHECK_FALSE(index.get(key(2, "large"))); // at most a fourth of the share
  CHECK(index.stats().refused == 1);
  index.insert(key(1, "large"), versioned(1, 1, share / 3));
  CHECK(index.get(key(1, "large")));
  index.set_share(1, share); // its entries are dropped
  CHECK(count_of(1).first == 0);
  CHECK_FALSE(index.get(key(1, "large")));
  index.clear();
  CHECK(index.stats().entries == 0);
}

TEST_CASE("memory: a peek is no hit and no miss") {
  memory_index index;
  index.insert(key_of("k"), artifact::make("v"));
  CHECK(index.peek(key_of("k")).payload() == "v");
  CHECK_FALSE(index.peek(key_of("x")));
  CHECK(index.stats().hits == 0);
  CHECK(index.stats().misses == 0);
  int first_hits = 0;
  index.drain_first_hits(10, [&](std::uint32_t, std::string_view) { ++first_hits; });
  CHECK(first_hits == 0);
}

TEST_CASE("memory: leftovers are the removed entries that readers hold") {
  memory_index index;
  index.insert(key_of("k"), artifact::make("v"));
  CHECK_FALSE(index.has_leftovers());
  auto held = index.get(key_of("k"));
  index.erase(key_of("k"));
  CHECK(index.has_leftovers());
  index.reclaim();
  CHECK(index.has_leftovers());
  held.reset();
  index.reclaim();
  CHECK_FALSE(index.has_leftovers());
}

TEST_CASE("memory: an entry whose expiry has passed is a miss and gives way to an insert") {
  simulated_unix_time clock(1'900'000'000'000);
  memory_index index;
  const auto key = key_of("k");
  index.put(key, with_ttl(artifact::make("old"), std::chrono::seconds(10)));
  for (int i = 0; i < 3; ++i)
    CHECK(index.get(key).payload() == "old");
  clock.advance(std::chrono::seconds(10));
  CHECK_FALSE(index.get(key));
  CHECK_FALSE(index.peek(key));
  index.each(1, [](std::string_view, const artifact&) { FAIL("listed"); });
  CHECK(index.insert(key, artifact::make("new")));
  CHECK(index.get(key).payload() == "new");
  CHECK(index.stats().entries == 1);
}

TEST_CASE("memory: an entry that was hit and has expired is evicted before one that was not hit") {
  simulated_unix_time clock(1'900'000'000'000);
  const std::string bytes(1000, 'x');
  memory_index_options options;
  options.budget_bytes = 64u << 10;
  memory_index index(options);
  const auto name = [](int i) { return "expiring " + std::to_string(i); };
  for (int i = 0; i < 20; ++i) {
    const auto text = name(i);
    index.put(key_of(text), with_ttl(artifact::make(bytes), std::chrono::seconds(10)));
    CHECK(index.get(key_of(text)));
  }
  clock.advance(std::chrono::seconds(10));
  for (int i = 0; index.stats().evicted < 20; ++i) {
    const auto text = "lasting " + std::to_string(i);
    index.put(key_of(text), artifact::make(bytes));
  }
  CHECK(index.get(key_of("lasting 0")));
}

} // namespace memory_index_test
