#include "tests/storage/disk/store_fixture.hpp"

#include <thread>

namespace store_test {

using namespace hearth;
using namespace hearth::test;
using storage::read_status;
using storage::write_kind;
using storage::write_status;

TEST_CASE("an insert is found with its payload and metadata") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  CHECK(insert(*store, "matmul", "object code", "\x80") == write_status::inserted);
  const auto found = get(*store, "matmul");
  REQUIRE(found.status == read_status::hit);
  CHECK(found.value.payload() == "object code");
  CHECK(found.value.metadata_bytes() == "\x80");
  CHECK(text_of(*store, "other") == "<miss>");
}

TEST_CASE("the first writer wins and a put overwrites") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  CHECK(insert(*store, "k", "first") == write_status::inserted);
  CHECK(insert(*store, "k", "second") == write_status::exists);
  CHECK(text_of(*store, "k") == "first");
  CHECK(put(*store, "k", "third") == write_status::stored);
  CHECK(text_of(*store, "k") == "third");
}

TEST_CASE("an erased key is a miss and can be inserted again") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  CHECK(erase(*store, "k") == write_status::absent);
  insert(*store, "k", "first");
  CHECK(erase(*store, "k") == write_status::erased);
  CHECK(text_of(*store, "k") == "<miss>");
  CHECK(erase(*store, "k") == write_status::absent);
  CHECK(insert(*store, "k", "again") == write_status::inserted);
  CHECK(text_of(*store, "k") == "again");
}

TEST_CASE("puts and erases move the epoch and inserts do not") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  const auto start = store->epoch(0);
  insert(*store, "k", "first");
  insert(*store, "k", "second");
  CHECK(store->epoch(0) == start);
  put(*store, "k", "third");
  const auto after_put = store->epoch(0);
  CHECK(after_put != start);
  erase(*store, "k");
  CHECK(store->epoch(0) != after_put);
}

TEST_CASE(
    "a write of a missing entry moves the epoch if a process holds an entry that is not stored") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  auto other = open_store(small_store(directory.path()));
  const auto start = store->epoch(0);
  put(*store, "k", "stored");
  CHECK(store->epoch(0) == start);
  other->note_unpersisted(0);
  put(*store, "l", "stored");
  const auto moved = store->epoch(0);
  CHECK(moved != start);
  put(*store, "m", "stored");
  CHECK(store->epoch(0) == moved);
  other->note_unpersisted(0);
  insert(*store, "n", "stored"); // replaces nothing
  CHECK(store->epoch(0) == moved);
  erase(*store, "missing");
  const auto last = store->epoch(0);
  CHECK(last != moved);
  // This process may hold such entries too; another one moves the epoch once more.
  put(*other, "o", noise(3u << 20, 5));
  CHECK(store->epoch(0) != last);
}

TEST_CASE("names and versions of caches are part of the key") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  const auto v1 = *cache_id::make("graphs", "1");
  const auto v2 = *cache_id::make("graphs", "2");
  const auto other = *cache_id::make("autotune", "1");
  write(*store, write_kind::insert, "k", "one", {}, 0, v1);
  CHECK(text_of(*store, "k", v2) == "<miss>");
  CHECK(write(*store, write_kind::insert, "k", "two", {}, 0, v2).status == write_status::inserted);
  CHECK(write(*store, write_kind::insert, "k", "x", {}, 0, other).status == write_status::inserted);
  CHECK(text_of(*store, "k", v1) == "one");
  CHECK(text_of(*store, "k", v2) == "two");
  CHECK(text_of(*store, "k", other) == "x");
}

TEST_CASE("equal hashes of different keys are told apart") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  const std::uint64_t hash = 0x123456789abcdef0;
  std::vector<storage::write_request> group;
  for (const char* key : {"a", "b", "c"})
    group.push_back({write_kind::insert, {test_cache(), key, hash}, artifact::make(key), 0});
  store->apply(0, group);
  for (const char* key : {"a", "b", "c"}) {
    const auto found = store->get({test_cache(), key, hash});
    REQUIRE(found.status == read_status::hit);
    CHECK(found.value.payload() == key);
  }
  CHECK(store->get({test_cache(), "d", hash}).status == read_status::miss);
}

TEST_CASE("a group is applied in order even when it names a key twice") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  std::vector<storage::write_request> group;
  const auto add = [&](write_kind kind, const char* value) {
    group.push_back({kind, {test_cache(), "k"}, value ? artifact::make(value) : artifact{}, 0});
  };
  add(write_kind::insert, "one");
  add(write_kind::insert, "two");
  add(write_kind::put, "three");
  add(write_kind::erase, nullptr);
  add(write_kind::erase, nullptr);
  add(write_kind::insert, "four");
  store->apply(0, group);
  CHECK(group[0].status == write_status::inserted);
  CHECK(group[1].status == write_status::exists);
  CHECK(group[2].status == write_status::stored);
  CHECK(group[3].status == write_status::erased);
  CHECK(group[4].status == write_status::absent);
  CHECK(group[5].status == write_status::inserted);
  CHECK(text_of(*store, "k") == "four");
}

TEST_CASE("an expired entry is a miss and an insert replaces it") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  write(*store, write_kind::insert, "old", "x", {}, 1);
  write(*store, write_kind::insert, "far", "y", {}, std::int64_t{1} << 60);
  CHECK(text_of(*store, "old") == "<miss>");
  CHECK(text_of(*store, "far") == "y");
  CHECK(keys_of(*store) == std::vector<std::string>{"far"});
  CHECK(store->stats().expired == 1);
  CHECK(erase(*store, "old") == write_status::absent);
  CHECK(insert(*store, "old", "new") == write_status::inserted);
  CHECK(text_of(*store, "old") == "new");
}

TEST_CASE("a closed store has every entry when it is opened again") {
  const temporary_directory directory;
  auto options = small_store(directory.path());
  options.shards = 4;
  {
    auto store = open_store(options);
    for (int i = 0; i < 500; ++i)
      insert(*store, "key" + std::to_string(i), noise(static_cast<std::size_t>(i * 7), 1));
    put(*store, "key3", "new");
    erase(*store, "key4");
  }
  auto store = open_store(options);
  CHECK(store->shards() == 4);
  CHECK(store->stats().rebuilds == 0);
  CHECK(store->stats().entries == 499);
  for (int i = 0; i < 500; ++i) {
    const auto want = i == 3   ? std::string("new")
                      : i == 4 ? std::string("<miss>")
                               : noise(static_cast<std::size_t>(i * 7), 1);
    CHECK(text_of(*store, "key" + std::to_string(i)) == want);
  }
}

TEST_CASE("the index grows and forgets nothing") {
  const temporary_directory directory;
  auto options = small_store(directory.path());
  auto store = open_store(options);
  constexpr int count = 20000;
  std::vector<std::string> keys;
  for (int i = 0; i < count; ++i)
    keys.push_back("key" + std::to_string(i));
  const auto before = store->stats().index_bytes;
  for (int i = 0; i < count; i += 200) {
    std::vector<storage::write_request> group;
    for (int j = i; j < i + 200; ++j)
      group.push_back({write_kind::insert,
                       {test_cache(), keys[static_cast<std::size_t>(j)]},
                       artifact::make(keys[static_cast<std::size_t>(j)]),
                       0});
    store->apply(0, group);
    for (const auto& request : group)
      REQUIRE(request.status == write_status::inserted);
  }
  CHECK(store->stats().index_bytes > before);
  CHECK(store->stats().entries == count);
  for (const auto& key : keys)
    REQUIRE(text_of(*store, key) == key);
  const auto report = store->verify(false);
  REQUIRE(report);
  CHECK(report->intact());
  CHECK(report->records == count);
  CHECK(report->unindexed == 0);
}

TEST_CASE("a read-only store reads and refuses to write") {
  const temporary_directory directory;
  auto options = small_store(directory.path());
  auto writer = open_store(options);
  insert(*writer, "k", "value");
  options.read_only = true;
  auto reader = open_store(options);
  CHECK(text_of(*reader, "k") == "value");
  insert(*writer, "later", "seen");
  CHECK(text_of(*reader, "later") == "seen");
  const auto refused = write(*reader, write_kind::insert, "x", "y");
  CHECK(refused.status == write_status::failed);
  CHECK(refused.why.code() == errc::read_only);
  CHECK(reader->flush().error().code() == errc::read_only);
  CHECK(reader->clear().error().code() == errc::read_only);
  CHECK(reader->open_leases().error().code() == errc::read_only);
}

TEST_CASE("opening read-only creates nothing") {
  const temporary_directory directory;
  auto options = small_store(directory / "missing");
  options.read_only = true;
  CHECK_FALSE(storage::store::open(options));
  CHECK_FALSE(std::filesystem::exists(directory / "missing"));
}

TEST_CASE("clear drops everything and leaves a working store") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  for (int i = 0; i < 100; ++i)
    insert(*store, "key" + std::to_string(i), noise(20000, 3));
  const auto epoch = store->epoch(0);
  REQUIRE(store->clear());
  CHECK(store->stats().entries == 0);
  CHECK(store->stats().live_bytes == 0);
  CHECK(store->epoch(0) != epoch);
  CHECK(text_of(*store, "key7") == "<miss>");
  CHECK(insert(*store, "key7", "again") == write_status::inserted);
  CHECK(text_of(*store, "key7") == "again");
}

TEST_CASE("a value above a quarter of a segment has a segment of its own") {
  const temporary_directory directory;
  auto options = small_store(directory.path());
  const auto large = noise(3u << 20, 5);
  {
    auto store = open_store(options);
    insert(*store, "small", "s");
    const auto segments = store->stats().segments;
    CHECK(insert(*store, "large", large, "\x80") == write_status::inserted);
    CHECK(insert(*store, "large", "x") == write_status::exists);
    CHECK(store->stats().segments == segments + 1);
    CHECK(text_of(*store, "large") == large);
    CHECK(put(*store, "small", large) == write_status::stored);
    CHECK(put(*store, "large", "little") == write_status::stored);
    CHECK(text_of(*store, "small") == large);
    CHECK(text_of(*store, "large") == "little");
    CHECK(erase(*store, "small") == write_status::erased);
    CHECK(text_of(*store, "small") == "<miss>");
  }
  auto store = open_store(options);
  CHECK(text_of(*store, "large") == "little");
  CHECK(text_of(*store, "small") == "<miss>");
  CHECK(store->verify(false)->intact());
}

TEST_CASE("a value above the budget is refused") {
  const temporary_directory directory;
  auto options = small_store(directory.path());
  options.budget_bytes = 4u << 20;
  auto store = open_store(options);
  const auto refused = write(*store, write_kind::insert, "k", noise(5u << 20, 1));
  CHECK(refused.status == write_status::failed);
  CHECK(refused.why.code() == errc::too_large);
}

TEST_CASE("values that shrink are stored compressed on request") {
  const temporary_directory directory;
  auto options = small_store(directory.path());
  options.compress = true;
  const std::string text(100000, 'x');
  const auto random = noise(5000, 9);
  auto store = open_store(options);
  insert(*store, "text", text);
  insert(*store, "random", random);
  CHECK(text_of(*store, "text") == text);
  CHECK(text_of(*store, "random") == random);
  std::uint64_t stored = 0;
  CHECK(store->list([&](const storage::entry_info& info) {
    if (info.key == "text") stored = info.stored_bytes;
    return true;
  }));
  CHECK(stored > 0);
  CHECK(stored < 1000);
}

TEST_CASE("list gives cache, version and sizes of each entry and can be stopped") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  const auto cache = *cache_id::make("kernels", "v7");
  write(*store, write_kind::insert, "k", "12345", "\x81\xa1t\x01", 0, cache);
  insert(*store, "other", "x");
  int seen = 0;
  CHECK(store->list([&](const storage::entry_info& info) {
    ++seen;
    if (info.key == "k") {
      CHECK(info.cache == "kernels");
      CHECK(info.version == "v7");
      CHECK(info.payload_bytes == 5);
      CHECK(info.metadata_bytes == 4);
      CHECK(info.stored_bytes >= 5 + 4);
      CHECK(info.shard == 0);
    }
    return true;
  }));
  CHECK(seen == 2);
  seen = 0;
  CHECK(store->list([&](const storage::entry_info&) { return ++seen < 1; }));
  CHECK(seen == 1);
}

TEST_CASE("many threads read while one writes") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  constexpr int keys = 200;
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (unsigned t = 0; t < 3; ++t)
    readers.emplace_back([&, t] {
      for (unsigned i = t; !stop.load(); ++i) {
        const auto number = std::to_string(i % keys);
        const auto found = get(*store, "key" + number);
        if (found.status == read_status::hit) {
          // A payload is its number, a colon, and one letter repeated many times.
          const auto text = found.value.payload();
          const auto colon = text.find(':');
          if (text.substr(0, colon) != number ||
              text.find_first_not_of(text.back(), colon + 1) != std::string_view::npos)
            wrong.fetch_add(1);
        } else if (found.status != read_status::miss) {
          wrong.fetch_add(1);
        }
      }
    });
  for (int round = 0; round < 20; ++round)
    for (int i = 0; i < keys; ++i) {
      const auto number = std::to_string(i);
      const auto body =
          std::string(static_cast<std::size_t>(100 + i * 10), static_cast<char>('a' + round));
      if (i % 17 == 5)
        erase(*store, "key" + number);
      else
        put(*store, "key" + number, number + ":" + body);
    }
  stop = true;
  for (auto& reader : readers)
    reader.join();
  CHECK(wrong.load() == 0);
}

} // namespace store_test
