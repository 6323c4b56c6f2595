// The budget, measured in disk blocks, not with the store's own figures.
#include "tests/storage/disk/store_fixture.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/disk_blocks.hpp"
#include "tests/support/faulty_file_system.hpp"
#include "tests/support/volatile_file_system.hpp"

#include <atomic>
#include <cerrno>
#include <thread>

namespace budget_test {

using namespace hearth;
using namespace hearth::test;
using storage::write_status;

namespace {

// Folders, the description and the leases, and a block for the table of each of about 20 segments;
// the table is written when the segment gets no more records.
constexpr std::uint64_t beside_segments = (32u << 10) + 20 * 4096;

storage::store_options with_budget(const std::filesystem::path& directory, std::uint64_t bytes) {
  storage::store_options options;
  options.directory = directory;
  options.budget_bytes = bytes;
  return options;
}

// A process that opens the store, inserts some entries, reads the hot ones and ends.
int short_life(const storage::store_options& options, int first, int entries, bool killed) {
  auto store = open_store(options);
  if (!store) return 1;
  for (int i = first; i < first + entries; ++i) {
    if (insert(*store, numbered(i), noise(9000, static_cast<std::uint64_t>(i))) !=
        write_status::inserted)
      return 2;
    text_of(*store, numbered(i / 50 * 50));
  }
  if (killed) ::kill(::getpid(), SIGKILL);
  return 0;
}

} // namespace

TEST_CASE("short-lived processes stay within the budget together") {
  for (const std::uint64_t budget : {1u << 20, 3u << 20}) {
    for (const bool killed : {false, true}) {
      CAPTURE(budget);
      CAPTURE(killed);
      const temporary_directory directory;
      const auto options = with_budget(directory.path(), budget);
      std::uint64_t most = 0;
      for (int process = 0; process < 40; ++process) {
        child_process child([&] { return short_life(options, process * 30, 30, killed); });
        REQUIRE(child.wait() == (killed ? -SIGKILL : 0));
        most = std::max(most, blocks_under(directory.path()));
      }
      CHECK(most <= budget + budget / 8 + beside_segments);
    }
  }
}

TEST_CASE("a store that was created with a larger budget keeps to the smaller one") {
  const temporary_directory directory;
  open_store(with_budget(directory.path(), std::uint64_t{10} << 30));
  const auto options = with_budget(directory.path(), 8u << 20);
  std::uint64_t most = 0;
  for (int process = 0; process < 30; ++process) {
    child_process child([&] { return short_life(options, process * 100, 100, false); });
    REQUIRE(child.wait() == 0);
    most = std::max(most, blocks_under(directory.path()));
  }
  CHECK(most <= (8u << 20) + (1u << 20) + (64u << 10));
}

namespace {

std::string hot(int i) { return "hot" + std::to_string(i); }

// Inserts this process's entries, and reads the hot ones in between.
int insert_and_read(const storage::store_options& options, int process, int entries) {
  auto store = open_store(options);
  if (!store) return 1;
  for (int i = 0; i < entries; ++i) {
    const auto seed = static_cast<std::uint64_t>(process * entries + i);
    if (insert(*store, numbered(process * entries + i), noise(4000 + i % 7 * 1000, seed)) !=
        write_status::inserted)
      return 2;
    if (i % 4 == 0)
      for (int k = 0; k < 10; ++k)
        if (text_of(*store, hot(k)) != noise(3000, static_cast<std::uint64_t>(k))) return 3;
  }
  return 0;
}

} // namespace

TEST_CASE(
    "processes that insert at once stay within the budget, and the entries that they hit stay") {
  for (const auto interval : {std::chrono::milliseconds(0), std::chrono::milliseconds(5000)}) {
    CAPTURE(interval.count());
    const temporary_directory directory;
    constexpr std::uint64_t budget = 8u << 20;
    auto options = with_budget(directory.path(), budget);
    options.sync_interval = interval;
    {
      auto store = open_store(options);
      insert(*store, "cold", "never asked for");
      for (int k = 0; k < 10; ++k)
        insert(*store, hot(k), noise(3000, static_cast<std::uint64_t>(k)));
    }
    constexpr int entries = 800; // 5.6 MB each
    std::atomic<int> running{4};
    std::vector<std::unique_ptr<child_process>> children;
    for (int process = 0; process < 4; ++process)
      children.push_back(std::make_unique<child_process>(
          [&, process] { return insert_and_read(options, process, entries); }));
    std::vector<std::thread> waiting;
    for (auto& child : children)
      waiting.emplace_back([&] {
        CHECK(child->wait() == 0);
        --running;
      });
    std::uint64_t most = 0;
    while (running > 0)
      most = std::max(most, blocks_under(directory.path()));
    for (auto& one : waiting)
      one.join();
    CHECK(most <= budget + budget / 8 + beside_segments);
    CHECK(most >= budget / 2);
    auto store = open_store(options);
    CHECK(text_of(*store, "cold") == "<miss>");
    for (int k = 0; k < 10; ++k)
      CHECK(text_of(*store, hot(k)) == noise(3000, static_cast<std::uint64_t>(k)));
    const auto report = store->verify(false);
    REQUIRE(report);
    CHECK(report->intact());
  }
}

TEST_CASE("large values that are hit stay, and others are evicted") {
  const temporary_directory directory;
  constexpr std::uint64_t budget = 8u << 20;
  auto options = with_budget(directory.path(), budget);
  options.sync_interval = std::chrono::milliseconds(0);
  auto store = open_store(options);
  const auto large = noise(900'000, 1); // most of a segment
  insert(*store, "hot", large);
  insert(*store, "cold", noise(900'000, 2));
  std::uint64_t most = 0;
  for (int i = 0; i < 60; ++i) {
    REQUIRE(text_of(*store, "hot") == large);
    const auto bytes = i % 2 ? std::size_t{300'000} : std::size_t{900'000};
    REQUIRE(insert(*store, numbered(i), noise(bytes, static_cast<std::uint64_t>(i))) ==
            write_status::inserted);
    most = std::max(most, blocks_under(directory.path()));
  }
  CHECK(most <= budget + budget / 8 + beside_segments);
  CHECK(text_of(*store, "hot") == large);
  CHECK(text_of(*store, "cold") == "<miss>");
  CHECK(text_of(*store, numbered(59)) == noise(300'000, 59));
  CHECK(store->stats().kept_by_hit > 2);
  CHECK(store->verify(false)->intact());

  SUBCASE("others see it") {
    options.read_only = true;
    auto reader = open_store(options);
    CHECK(text_of(*reader, "hot") == large);
    CHECK(keys_of(*reader) == keys_of(*store));
  }
  SUBCASE("a rebuild finds it") {
    const auto keys = keys_of(*store);
    store.reset();
    std::filesystem::resize_file(directory / "v1/shards/00/head", 0);
    store = open_store(options);
    CHECK(store->stats().rebuilds == 1);
    CHECK(text_of(*store, "hot") == large);
    CHECK(keys_of(*store) == keys);
    CHECK(store->verify(false)->intact());
  }
  SUBCASE("it can be replaced and erased") {
    put(*store, "hot", "small");
    CHECK(text_of(*store, "hot") == "small");
    CHECK(erase(*store, "hot") == write_status::erased);
    CHECK(text_of(*store, "hot") == "<miss>");
    store.reset();
    std::filesystem::resize_file(directory / "v1/shards/00/index.1", 100);
    store = open_store(options);
    CHECK(text_of(*store, "hot") == "<miss>");
  }
}

TEST_CASE("a large value that was kept survives a power loss") {
  const temporary_directory directory;
  volatile_file_system files;
  auto options = with_budget(directory / "store", 4u << 20);
  options.sync_interval = std::chrono::milliseconds(0);
  options.files = &files;
  auto store = open_store(options);
  const auto large = noise(300'000, 1);
  insert(*store, "hot", large);
  REQUIRE(store->flush());
  for (int i = 0; i < 40; ++i) {
    REQUIRE(text_of(*store, "hot") == large);
    REQUIRE(insert(*store, numbered(i), noise(250'000, static_cast<std::uint64_t>(i))) ==
            write_status::inserted);
  }
  REQUIRE(store->stats().kept_by_hit > 0);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const auto after = directory / ("after" + std::to_string(seed));
    files.lose_power(directory / "store", after, seed);
    auto lost = open_store(with_budget(after, 4u << 20));
    CHECK(text_of(*lost, "hot") == large);
  }
}

TEST_CASE("large values that are replaced or erased free their disk space") {
  const temporary_directory directory;
  constexpr std::uint64_t budget = 16u << 20;
  auto options = with_budget(directory.path(), budget);
  options.sync_interval = std::chrono::milliseconds(0);
  auto store = open_store(options);
  insert(*store, "keep", "an entry that nobody asks for");
  for (int i = 0; i < 30; ++i) // 60 MB through a budget of 16
    REQUIRE(put(*store, "large", noise(2'000'000, static_cast<std::uint64_t>(i))) ==
            write_status::stored);
  CHECK(text_of(*store, "large") == noise(2'000'000, 29));
  CHECK(text_of(*store, "keep") == "an entry that nobody asks for");
  CHECK(store->stats().evicted == 0);
  REQUIRE(store->flush());
  CHECK(blocks_under(directory.path()) < 3'000'000);
  CHECK(erase(*store, "large") == write_status::erased);
  REQUIRE(store->flush());
  CHECK(blocks_under(directory.path()) < 500'000);
  CHECK(store->verify(false)->intact());
}

TEST_CASE("entries that are never replaced stay while others are put and erased without end") {
  const temporary_directory directory;
  constexpr std::uint64_t budget = 8u << 20;
  auto options = with_budget(directory.path(), budget);
  options.sync_interval = std::chrono::milliseconds(0);
  auto store = open_store(options);
  const auto text = [](int i) { return noise(2000, static_cast<std::uint64_t>(i)); };
  for (int i = 0; i < 200; ++i) { // 0.4 MB that stay among 1.6 MB that do not
    insert(*store, numbered(i), text(i));
    put(*store, "busy", noise(8000, static_cast<std::uint64_t>(i)));
  }
  for (int i = 0; i < 10'000; ++i) { // 80 MB
    const auto key = "busy" + std::to_string(i % 20);
    REQUIRE(put(*store, key, noise(8000, static_cast<std::uint64_t>(i))) == write_status::stored);
    if (i % 3 == 0) REQUIRE(erase(*store, key) == write_status::erased);
  }
  CHECK(blocks_under(directory.path()) <= budget + budget / 8 + beside_segments);
  for (int i = 0; i < 200; ++i)
    REQUIRE(text_of(*store, numbered(i)) == text(i));
}

TEST_CASE("on a full disk nothing is evicted to keep entries that were hit") {
  const temporary_directory directory;
  faulty_file_system files;
  auto options = with_budget(directory.path(), 4u << 20);
  options.sync_interval = std::chrono::milliseconds(0);
  options.files = &files;
  auto store = open_store(options);
  int count = 0;
  for (; store->stats().disk_bytes < (3u << 20); ++count)
    insert(*store, numbered(count), noise(9000, static_cast<std::uint64_t>(count)));
  for (int i = 0; i < count; ++i)
    REQUIRE(text_of(*store, numbered(i)) == noise(9000, static_cast<std::uint64_t>(i)));
  files.fail(call::allocate, ENOSPC);
  bool refused = false;
  for (int i = count; i < count + 300; ++i) {
    const auto request = write(*store, storage::write_kind::insert, numbered(i), noise(9000, 1));
    refused = refused || request.status == write_status::failed;
    if (request.status == write_status::failed) CHECK(request.why.code() == errc::no_space);
  }
  CHECK(refused);
  for (int i = 0; i < count; ++i)
    REQUIRE(text_of(*store, numbered(i)) == noise(9000, static_cast<std::uint64_t>(i)));
  files.heal();
  for (int i = 1000; i < 1600; ++i)
    REQUIRE(insert(*store, numbered(i), noise(9000, 1)) == write_status::inserted);
  CHECK(blocks_under(directory.path()) <= (4u << 20) + (512u << 10) + (32u << 10));
  CHECK(store->verify(false)->intact());
}

namespace {

struct other_users : faulty_file_system {
  std::atomic<std::uint64_t> free{std::uint64_t{1} << 30};
  std::uint64_t free_bytes(int) noexcept override { return free; }
};

} // namespace

TEST_CASE("a store without a budget shrinks when others fill the disk") {
  const temporary_directory directory;
  other_users files;
  storage::store_options options;
  options.directory = directory.path();
  options.files = &files;
  options.sync_interval = std::chrono::milliseconds(0);
  options.shards = 1;
  files.free = 200u << 20; // allows the store 20 MiB
  auto store = open_store(options);
  int i = 0;
  for (; i < 3000; ++i) // 27 MB
    REQUIRE(insert(*store, numbered(i), noise(9000, 1)) == write_status::inserted);
  const auto before = blocks_under(directory.path());
  CHECK(before > 12u << 20);
  CHECK(before < 24u << 20);
  files.free = 60u << 20;
  for (; i < 3400; ++i) // 3.6 MB
    REQUIRE(insert(*store, numbered(i), noise(9000, 1)) == write_status::inserted);
  CHECK(blocks_under(directory.path()) < 12u << 20);
  const auto evicted = store->stats().evicted;
  files.free = 0; // the disk is full: the next write that needs more blocks is refused
  files.fail(call::allocate, ENOSPC);
  bool refused = false;
  for (; i < 4000; ++i)
    refused = insert(*store, numbered(i), noise(9000, 1)) == write_status::failed || refused;
  CHECK(refused);
  CHECK(store->stats().evicted == evicted);
}

TEST_CASE("a value fits up to three quarters of a shard's part of the budget") {
  const temporary_directory directory;
  constexpr std::uint64_t budget = 32u << 20;
  auto options = with_budget(directory.path(), budget);
  options.shards = 1;
  options.sync_interval = std::chrono::milliseconds(0);
  auto store = open_store(options);
  for (int i = 0; i < 100; ++i)
    insert(*store, numbered(i), noise(100'000, 1));
  const auto fits = noise(budget / 4 * 3, 1);
  CHECK(insert(*store, "fits", fits) == write_status::inserted);
  CHECK(text_of(*store, "fits") == fits);
  CHECK(blocks_under(directory.path()) <= budget + budget / 8);
  const auto request =
      write(*store, storage::write_kind::insert, "does not", noise(budget / 8 * 7, 1));
  CHECK(request.status == write_status::failed);
  CHECK(request.why.code() == errc::too_large);
  CHECK(text_of(*store, "fits") == fits); // nothing was evicted for the value that does not fit
}

TEST_CASE("a large value that expired is a miss, can be inserted again and is not kept") {
  const temporary_directory directory;
  auto options = with_budget(directory.path(), 4u << 20);
  options.sync_interval = std::chrono::milliseconds(0);
  auto store = open_store(options);
  const auto over = [&](std::string_view key, std::int64_t expires) {
    return write(*store, storage::write_kind::insert, key, noise(300'000, 1), {}, expires).status;
  };
  CHECK(over("again", 1000) == write_status::inserted); // 1970
  CHECK(text_of(*store, "again") == "<miss>");
  CHECK(over("again", 0) == write_status::inserted);
  CHECK(text_of(*store, "again") == noise(300'000, 1));
  REQUIRE(store->flush());
  CHECK(blocks_under(directory.path()) < 500'000); // the expired one was removed at once
  CHECK(over("old", 1000) == write_status::inserted);
  store->touch({test_cache(), "old"}); // it was hit before it expired
  for (int i = 0; i < 40; ++i)
    REQUIRE(insert(*store, numbered(i), noise(250'000, 1)) == write_status::inserted);
  CHECK(store->stats().kept_by_hit <= 1); // only "again"
}

} // namespace budget_test
