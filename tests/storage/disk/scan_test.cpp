// A scan of the store in parts, while entries come and go and the index grows.
#include "tests/storage/disk/store_fixture.hpp"

#include <map>
#include <optional>
#include <set>

using namespace hearth;
using namespace hearth::test;
using storage::scan_place;
using storage::write_kind;

namespace {

// Scans the store, `entries` at a time, and calls `between` after each part. Returns how often each
// key was visited.
template <class Between>
std::map<std::string, int> scan_all(storage::store& store, int entries, Between between) {
  std::map<std::string, int> seen;
  std::optional<scan_place> place = scan_place{};
  while (place) {
    int left = entries;
    auto next = store.scan(*place, [&](const storage::entry_info& info) {
      ++seen[info.key];
      return --left > 0;
    });
    REQUIRE(next);
    place = *next;
    between(seen);
  }
  return seen;
}

void insert_many(storage::store& store, const std::string& prefix, int first, int last) {
  for (int i = first; i < last; ++i)
    REQUIRE(insert(store, prefix + std::to_string(i), "x") == storage::write_status::inserted);
}

} // namespace

TEST_CASE("a scan visits each entry of every shard once while nobody writes") {
  const temporary_directory directory;
  auto options = small_store(directory.path());
  options.shards = 3;
  auto store = open_store(options);
  CHECK(scan_all(*store, 1, [](const auto&) {}).empty());
  insert_many(*store, "k", 0, 500);
  REQUIRE(erase(*store, "k7") == storage::write_status::erased);
  write(*store, write_kind::put, "gone", "x", {}, 1);
  for (const int entries : {1, 7, 10'000}) {
    const auto seen = scan_all(*store, entries, [](const auto&) {});
    CHECK(seen.size() == 499);
    CHECK_FALSE(seen.contains("gone"));
    CHECK_FALSE(seen.contains("k7"));
    for (const auto& [key, times] : seen)
      CHECK_MESSAGE(times == 1, key);
  }
}

TEST_CASE("a part of a scan ends behind the bucket whose entry ends it, and after its buckets") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  insert_many(*store, "k", 0, 2'000);
  int visited = 0;
  const auto next = store->scan({}, [&](const storage::entry_info&) { return ++visited < 20; });
  REQUIRE(next);
  REQUIRE(*next);
  CHECK(visited >= 20);
  CHECK(visited < 20 + 8); // a bucket has eight slots
  int parts = 0;
  for (std::optional<scan_place> place = scan_place{}; place; ++parts)
    place = store->scan(*place, [](const storage::entry_info&) { return true; }).value();
  CHECK(parts == 1);
  insert_many(*store, "more", 0, 40'000);
  parts = 0;
  for (std::optional<scan_place> place = scan_place{}; place; ++parts)
    place = store->scan(*place, [](const storage::entry_info&) { return true; }).value();
  CHECK(parts > 1);
}

TEST_CASE("a scan finds what stays, whatever comes, goes and is replaced meanwhile") {
  const temporary_directory directory;
  auto options = small_store(directory.path());
  options.shards = 2;
  auto store = open_store(options);
  insert_many(*store, "stay", 0, 1'500);
  int next = 0;
  std::size_t parts = 0;
  const auto seen = scan_all(*store, 50, [&](const auto&) {
    ++parts;
    if (next >= 20'000) return;
    // The index grows several times, and keys that stay get another record.
    insert_many(*store, "other", next, next + 500);
    for (int i = next; i < next + 250; ++i)
      REQUIRE(erase(*store, "other" + std::to_string(i)) == storage::write_status::erased);
    for (int i = 0; i < 100; ++i)
      put(*store, "stay" + std::to_string((next + i * 7) % 1'500), "y");
    next += 500;
  });
  REQUIRE(next == 20'000);
  for (int i = 0; i < 1'500; ++i)
    CHECK_MESSAGE(seen.contains("stay" + std::to_string(i)), i);
  // What was scanned anew has a bound: the index grows a few times.
  CHECK(parts < 1'500);
}

TEST_CASE("a place of another table, shard or bucket is no trouble") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  insert_many(*store, "k", 0, 10);
  int visited = 0;
  const auto count = [&](const storage::entry_info&) { return ++visited > 0; };
  CHECK_FALSE(store->scan({1, 0, 0}, count).value());
  CHECK(visited == 0);
  CHECK_FALSE(store->scan({0, 999, 1u << 20}, count).value()); // it begins anew
  CHECK(visited == 10);
  visited = 0;
  const auto here = store->scan({}, [](const storage::entry_info&) { return false; }).value();
  REQUIRE(here);
  CHECK_FALSE(store->scan({0, here->generation, 1u << 20}, count).value());
  CHECK(visited == 0);
}

TEST_CASE("listed and scanned entries have their metadata") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  write(*store, write_kind::insert, "k", "12345", "\x81\xa1t\x01");
  insert(*store, "plain", "x");
  std::map<std::string, std::string> metadata;
  const auto note = [&](const storage::entry_info& info) {
    CHECK(info.metadata.size() == info.metadata_bytes);
    metadata[info.key] = info.metadata;
    return true;
  };
  const std::map<std::string, std::string> expected_here{{"k", "\x81\xa1t\x01"}, {"plain", ""}};
  CHECK_FALSE(store->scan({}, note).value());
  CHECK(metadata == expected_here);
  metadata.clear();
  CHECK(store->list(note));
  CHECK(metadata == expected_here);
}
