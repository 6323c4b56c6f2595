#include "messages/unix_time.hpp"
#include "tests/storage/disk/store_fixture.hpp"
#include "tests/support/volatile_file_system.hpp"

namespace evict_test {

using namespace hearth;
using namespace hearth::test;
using storage::write_status;

namespace {

storage::store_options tiny(const std::filesystem::path& directory) {
  auto options = small_store(directory);
  options.budget_bytes = 2u << 20;
  options.segment_bytes = 256u << 10;
  return options;
}

std::uint64_t bytes_under(const std::filesystem::path& path) {
  std::uint64_t total = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    struct stat about {};
    if (::lstat(entry.path().c_str(), &about) == 0 && S_ISREG(about.st_mode))
      total += static_cast<std::uint64_t>(about.st_blocks) * 512;
  }
  return total;
}

} // namespace

TEST_CASE("a store stays within its budget and drops the oldest") {
  const temporary_directory directory;
  auto store = open_store(tiny(directory.path()));
  for (int i = 0; i < 1500; ++i) {
    REQUIRE(insert(*store, numbered(i), noise(8000, static_cast<std::uint64_t>(i))) ==
            write_status::inserted);
    if (i % 100 == 0) REQUIRE(bytes_under(directory.path()) <= (2u << 20) + (64u << 10));
  }
  CHECK(text_of(*store, numbered(0)) == "<miss>");
  CHECK(text_of(*store, numbered(1499)) == noise(8000, 1499));
  const auto stats = store->stats();
  CHECK(stats.evicted > 1000);
  CHECK(stats.corrupt == 0);
  CHECK(stats.live_bytes <= 2u << 20);
  CHECK(stats.entries == keys_of(*store).size());
  CHECK(store->verify(false)->intact());
}

TEST_CASE("an entry that was hit is kept when its segment is evicted") {
  const temporary_directory directory;
  auto store = open_store(tiny(directory.path()));
  insert(*store, "hot", "still here");
  insert(*store, "touched", "this too");
  insert(*store, "cold", "gone");
  for (int i = 0; i < 1500; ++i) {
    insert(*store, numbered(i), noise(8000, static_cast<std::uint64_t>(i)));
    if (i % 10 != 0) continue;
    REQUIRE(text_of(*store, "hot") == "still here");
    store->touch({test_cache(), "touched"});
  }
  CHECK(text_of(*store, "touched") == "this too");
  CHECK(text_of(*store, "cold") == "<miss>");
  CHECK(store->stats().kept_by_hit > 2);
}

TEST_CASE("a kept entry survives a power loss after its old segment was evicted") {
  const temporary_directory directory;
  volatile_file_system files;
  auto options = tiny(directory / "store");
  options.files = &files;
  auto store = open_store(options);
  insert(*store, "hot", "still here");
  REQUIRE(store->flush());
  for (int i = 0; i < 600; ++i) {
    insert(*store, numbered(i), noise(8000, static_cast<std::uint64_t>(i)));
    REQUIRE(text_of(*store, "hot") == "still here");
  }
  REQUIRE(store->stats().kept_by_hit > 0);
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto after = directory / ("after" + std::to_string(seed));
    files.lose_power(directory / "store", after, seed);
    auto lost = open_store(tiny(after));
    CHECK(text_of(*lost, "hot") == "still here");
  }
}

TEST_CASE("readers of a segment that is evicted get a value or a miss") {
  const temporary_directory directory;
  auto writer = open_store(tiny(directory.path()));
  auto reader = open_store(tiny(directory.path()));
  for (int i = 0; i < 1500; ++i) {
    insert(*writer, numbered(i), noise(8000, static_cast<std::uint64_t>(i)));
    const int back = std::max(0, i - i % 256);
    const auto text = text_of(*reader, numbered(back));
    REQUIRE((text == "<miss>" || text == noise(8000, static_cast<std::uint64_t>(back))));
    REQUIRE(text_of(*reader, numbered(i)) == noise(8000, static_cast<std::uint64_t>(i)));
  }
  CHECK(reader->stats().corrupt == 0);
  CHECK(reader->stats().unreadable == 0);
}

TEST_CASE("an erased key does not come back when its tombstone is evicted") {
  const temporary_directory directory;
  const auto options = tiny(directory.path());
  {
    auto store = open_store(options);
    const auto large = noise(100000, 1); // in a segment of its own, numbered above the active one
    insert(*store, "large", large);
    erase(*store, "large");
    insert(*store, "other", large);
    put(*store, "other", "little");
    REQUIRE(store->evict_to(400u << 10));
  }
  std::filesystem::remove(directory / "v1/clean");
  std::filesystem::resize_file(directory / "v1/shards/00/head", 0);
  auto store = open_store(options);
  CHECK(store->stats().rebuilds == 1);
  CHECK(text_of(*store, "large") == "<miss>");
  const auto other = text_of(*store, "other");
  CHECK((other == "little" || other == "<miss>"));
}

TEST_CASE("evicting to a size frees the reported bytes and leaves a working store") {
  const temporary_directory directory;
  auto store = open_store(tiny(directory.path()));
  for (int i = 0; i < 150; ++i)
    insert(*store, numbered(i), noise(8000, static_cast<std::uint64_t>(i)));
  const auto before = store->stats().disk_bytes;
  auto freed = store->evict_to(600u << 10);
  REQUIRE(freed);
  CHECK(store->stats().disk_bytes <= 600u << 10);
  CHECK(before - store->stats().disk_bytes == *freed);
  CHECK(text_of(*store, numbered(149)) == noise(8000, 149));
  REQUIRE(store->evict_to(0));
  CHECK(store->stats().entries == 0);
  CHECK(insert(*store, "k", "v") == write_status::inserted);
  CHECK(text_of(*store, "k") == "v");
}

TEST_CASE("large values are evicted like others") {
  const temporary_directory directory;
  auto options = tiny(directory.path());
  options.budget_bytes = 4u << 20;
  auto store = open_store(options);
  for (int i = 0; i < 40; ++i) {
    REQUIRE(insert(*store, numbered(i), noise(700000, static_cast<std::uint64_t>(i))) ==
            write_status::inserted);
    REQUIRE(text_of(*store, numbered(i)) == noise(700000, static_cast<std::uint64_t>(i)));
    REQUIRE(bytes_under(directory.path()) <= (4u << 20) + (64u << 10));
  }
  CHECK(text_of(*store, numbered(0)) == "<miss>");
  CHECK(store->verify(false)->intact());
}

TEST_CASE("sealed segments end in a table and rebuild the same index") {
  const temporary_directory directory;
  auto options = small_store(directory.path());
  options.segment_bytes = 256u << 10;
  {
    auto store = open_store(options);
    for (int i = 0; i < 400; ++i)
      insert(*store, numbered(i), noise(3000, static_cast<std::uint64_t>(i)));
    for (int i = 0; i < 400; i += 5)
      erase(*store, numbered(i));
    for (int i = 1; i < 400; i += 5)
      put(*store, numbered(i), "new");
    REQUIRE(store->flush());
    CHECK(store->verify(false)->intact());
  }
  std::filesystem::resize_file(directory / "v1/shards/00/index.1", 100);
  auto store = open_store(options);
  CHECK(store->stats().rebuilds == 1);
  for (int i = 0; i < 400; ++i)
    REQUIRE(text_of(*store, numbered(i)) == (i % 5 == 0 ? "<miss>"
                                             : i % 5 == 1
                                                 ? "new"
                                                 : noise(3000, static_cast<std::uint64_t>(i))));
}

TEST_CASE("an eviction takes what has expired first, and keeps all that has not") {
  simulated_unix_time clock(1'900'000'000'000);
  const temporary_directory directory;
  auto options = tiny(directory.path());
  options.budget_bytes = 8u << 20;
  auto store = open_store(options);
  const auto expires = unix_time_ms() + 1000;
  const auto put_with = [&](const std::string& key, std::size_t bytes, std::int64_t end) {
    return write(*store, storage::write_kind::insert, key, noise(bytes, 1), {}, end).status;
  };
  for (int i = 0; i < 60; ++i) // the oldest
    REQUIRE(put_with("lasting" + numbered(i), 8000, 0) == write_status::inserted);
  for (int i = 0; i < 200; ++i)
    REQUIRE(put_with(numbered(i), 8000, expires) == write_status::inserted);
  REQUIRE(put_with("large", 700000, expires) == write_status::inserted);
  for (int i = 60; i < 80; ++i)
    REQUIRE(put_with("lasting" + numbered(i), 8000, 0) == write_status::inserted);
  clock.advance(std::chrono::seconds(1));
  const std::uint64_t live = 80u * 8000;
  REQUIRE(store->evict_to(2 * live + (256u << 10)));
  CHECK(store->stats().disk_bytes <= 2 * live + (256u << 10));
  for (int i = 0; i < 80; ++i)
    CHECK(text_of(*store, "lasting" + numbered(i)) == noise(8000, 1));
  CHECK(store->stats().entries == 80);
  CHECK(store->verify(false)->intact());
}

TEST_CASE(
    "a value that a later one with an expiry replaced does not come back when that is evicted") {
  simulated_unix_time clock(1'900'000'000'000);
  const temporary_directory directory;
  const auto options = tiny(directory.path());
  {
    auto store = open_store(options);
    insert(*store, "k", "first");
    write(*store, storage::write_kind::put, "k", noise(100000, 1), {}, unix_time_ms() + 1000);
    clock.advance(std::chrono::seconds(1));
    REQUIRE(text_of(*store, "k") == "<miss>");
    REQUIRE(store->evict_to(1u << 20));
    REQUIRE(store->flush()); // removes the large value's file
  }
  std::filesystem::remove(directory / "v1/clean");
  std::filesystem::resize_file(directory / "v1/shards/00/head", 0);
  auto store = open_store(options);
  CHECK(store->stats().rebuilds == 1);
  CHECK(text_of(*store, "k") == "<miss>");
}

TEST_CASE("an expired entry that was stored anew meanwhile is not evicted as expired") {
  simulated_unix_time clock(1'900'000'000'000);
  const temporary_directory directory;
  auto store = open_store(tiny(directory.path()));
  CHECK(write(*store, storage::write_kind::expire, "none").status == write_status::absent);
  insert(*store, "lasts", "v");
  CHECK(write(*store, storage::write_kind::expire, "lasts").status == write_status::absent);
  write(*store, storage::write_kind::insert, "k", "old", {}, unix_time_ms() + 1000);
  CHECK(write(*store, storage::write_kind::expire, "k").status == write_status::absent);
  clock.advance(std::chrono::seconds(1));
  CHECK(write(*store, storage::write_kind::expire, "k").status == write_status::erased);
  CHECK(insert(*store, "k", "new") == write_status::inserted);
  CHECK(write(*store, storage::write_kind::expire, "k").status == write_status::absent);
  CHECK(text_of(*store, "k") == "new");
  CHECK(text_of(*store, "lasts") == "v");
}

} // namespace evict_test
