// Calls of the operating system fail: every failure is an error or a miss, and loses nothing
// stored.
#include "tests/storage/disk/store_fixture.hpp"
#include "tests/support/faulty_file_system.hpp"

#include <cerrno>

namespace fault_test {

using namespace hearth;
using namespace hearth::test;
using storage::read_status;
using storage::write_kind;
using storage::write_status;

namespace {

struct faulty_store {
  temporary_directory directory;
  faulty_file_system files;
  storage::store_options options = small_store(directory.path());
  std::unique_ptr<storage::store> store;

  faulty_store() {
    options.files = &files;
    options.segment_bytes = 256u << 10;
    store = open_store(options);
  }
  storage::write_request try_insert(const std::string& key, std::size_t bytes = 500) {
    return write(*store, write_kind::insert, key, noise(bytes, 1));
  }
};

} // namespace

TEST_CASE("a full disk is reported and loses nothing and recovers") {
  faulty_store one;
  for (int i = 0; i < 50; ++i)
    REQUIRE(one.try_insert(numbered(i)).status == write_status::inserted);
  one.files.fail(call::allocate, ENOSPC);
  bool refused = false;
  for (int i = 50; i < 1000; ++i) {
    const auto request = one.try_insert(numbered(i));
    if (request.status == write_status::inserted) continue;
    refused = true;
    CHECK(request.why.code() == errc::no_space);
    CHECK(text_of(*one.store, numbered(i)) == "<miss>");
    break;
  }
  CHECK(refused);
  CHECK(one.store->stats().evicted == 0);
  for (int i = 0; i < 50; ++i)
    CHECK(text_of(*one.store, numbered(i)) == noise(500, 1));
  one.files.heal();
  CHECK(one.try_insert("later").status == write_status::inserted);
  CHECK(one.store->verify(false)->intact());
}

TEST_CASE("a group that a full disk cuts publishes its complete entries and no more") {
  for (int room = 1; room < 2400; room += 97) {
    faulty_store one;
    insert(*one.store, "before", "x");
    std::vector<std::string> keys;
    for (int i = 0; i < 8; ++i)
      keys.push_back(numbered(i));
    std::vector<storage::write_request> group;
    for (const auto& key : keys)
      group.push_back({write_kind::insert, {test_cache(), key}, artifact::make(noise(200, 4)), 0});
    one.files.fill_after(room);
    one.store->apply(0, group);
    one.files.heal();
    bool failed = false;
    for (const auto& request : group) {
      const bool now = request.status == write_status::failed;
      CHECK((now || request.status == write_status::inserted));
      CHECK((!failed || now)); // nothing after the first failure
      failed = failed || now;
      if (now) CHECK(request.why.code() == errc::no_space);
      CHECK(text_of(*one.store, request.key.bytes) == (now ? "<miss>" : noise(200, 4)));
    }
    CHECK(failed);
    CHECK(text_of(*one.store, "before") == "x");
    for (const auto& key : keys)
      put(*one.store, key, "after");
    for (const auto& key : keys)
      CHECK(text_of(*one.store, key) == "after");
    CHECK(one.store->verify(false)->intact());
  }
}

TEST_CASE("short writes are continued") {
  faulty_store one;
  one.files.limit_writes(37);
  CHECK(one.try_insert("small").status == write_status::inserted);
  CHECK(one.try_insert("large", 200000).status == write_status::inserted);
  CHECK(text_of(*one.store, "small") == noise(500, 1));
  CHECK(text_of(*one.store, "large") == noise(200000, 1));
  CHECK(one.store->verify(false)->intact());
}

TEST_CASE("an error of the disk on writing fails only the write") {
  faulty_store one;
  one.try_insert("before");
  one.files.fail(call::write, EIO);
  const auto request = one.try_insert("k");
  CHECK(request.status == write_status::failed);
  CHECK(request.why.code() == errc::io);
  const auto large = one.try_insert("large", 200000);
  CHECK(large.status == write_status::failed);
  one.files.heal();
  CHECK(text_of(*one.store, "before") == noise(500, 1));
  CHECK(one.try_insert("k").status == write_status::inserted);
  CHECK(one.try_insert("large", 200000).status == write_status::inserted);
  CHECK(one.store->verify(false)->intact());
}

TEST_CASE("a segment that cannot be mapped is unreadable and counted and works later") {
  faulty_store one;
  one.try_insert("k");
  auto other = open_store(one.options);
  one.files.fail(call::map, ENOMEM);
  const auto found = get(*other, "k");
  CHECK(found.status == read_status::unreadable);
  CHECK(other->stats().unreadable == 1);
  one.files.heal();
  CHECK(text_of(*other, "k") == noise(500, 1));
}

TEST_CASE("without descriptors a read is unreadable and counted and works later") {
  faulty_store one;
  one.try_insert("k");
  auto other = open_store(one.options);
  one.files.fail(call::open, EMFILE);
  CHECK(get(*other, "k").status == read_status::unreadable);
  CHECK(other->stats().unreadable == 1);
  const auto request = write(*other, write_kind::insert, "k", "x");
  CHECK(request.status == write_status::failed);
  CHECK(request.why.code() == errc::too_many_files);
  one.files.heal();
  CHECK(text_of(*other, "k") == noise(500, 1));
  CHECK(insert(*other, "k", "x") == write_status::exists);
}

TEST_CASE("without locks a write fails at its deadline and leases are errors and hits serve") {
  faulty_store one;
  one.try_insert("k");
  one.options.lock_deadline = std::chrono::milliseconds(20);
  auto other = open_store(one.options);
  auto leases = other->open_leases();
  REQUIRE(leases);
  one.files.fail(call::lock, ENOLCK);
  const auto request = write(*other, write_kind::insert, "l", "x");
  CHECK(request.status == write_status::failed);
  CHECK(request.why.code() == errc::busy);
  CHECK_FALSE((*leases)->try_acquire(1));
  CHECK(text_of(*other, "k") == noise(500, 1));
  one.files.heal();
  CHECK(*(*leases)->try_acquire(1));
  CHECK(insert(*other, "l", "x") == write_status::inserted);
  CHECK(other->verify(false)->intact());
}

TEST_CASE("an error of the disk on reading is no proof of damage") {
  faulty_store one;
  one.try_insert("large", 300000);
  auto other = open_store(one.options);
  one.files.fail(call::read, EIO);
  CHECK(get(*other, "large").status == read_status::unreadable);
  one.files.heal();
  CHECK(text_of(*other, "large") == noise(300000, 1));
}

TEST_CASE("a sync that failed is never forgotten") {
  faulty_store one;
  one.try_insert("k");
  one.files.fail(call::sync, EIO, 0, 1);
  auto first = one.store->flush();
  REQUIRE_FALSE(first);
  CHECK(first.error().code() == errc::io);
  auto second = one.store->flush();
  REQUIRE_FALSE(second);
  CHECK(second.error().code() == errc::io);
  auto other = open_store(one.options);
  CHECK_FALSE(other->flush());
  CHECK(text_of(*one.store, "k") == noise(500, 1));
  REQUIRE(one.store->clear());
  CHECK(one.store->flush());
}

TEST_CASE("flush syncs the writes of other processes too") {
  faulty_store one;
  auto other = open_store(one.options);
  one.try_insert("k");
  const int before = one.files.calls(call::sync);
  REQUIRE(other->flush());
  CHECK(one.files.calls(call::sync) > before);
  const int after = one.files.calls(call::sync);
  REQUIRE(one.store->flush());
  // Only the files that this process has open itself are left to sync.
  CHECK(one.files.calls(call::sync) <= after + 2);
}

TEST_CASE("an index that cannot grow fails the insert and keeps the other entries") {
  faulty_store one;
  std::vector<std::string> keys;
  int stored = 0;
  one.files.fail(call::map, ENOMEM, 3);
  for (int i = 0; i < 6000; ++i) {
    const auto request = write(*one.store, write_kind::insert, numbered(i), "v");
    if (request.status != write_status::inserted) break;
    ++stored;
  }
  one.files.heal();
  CHECK(stored > 0);
  for (int i = 0; i < stored; ++i)
    REQUIRE(text_of(*one.store, numbered(i)) == "v");
  CHECK(insert(*one.store, numbered(6000), "v") == write_status::inserted);
}

TEST_CASE("every single call that fails leaves a usable store") {
  for (const auto kind : {call::open, call::read, call::write, call::allocate, call::sync,
                          call::map, call::resize, call::rename, call::remove, call::lock}) {
    for (int after = 0; after < 12; ++after) {
      CAPTURE(static_cast<int>(kind));
      CAPTURE(after);
      const temporary_directory directory;
      faulty_file_system files;
      auto options = small_store(directory.path());
      options.segment_bytes = 64u << 10;
      options.budget_bytes = 1u << 20;
      options.files = &files;
      std::vector<std::string> stored;
      files.fail(kind, EIO, after, 1);
      if (auto opened = storage::store::open(options)) {
        auto& store = **opened;
        for (int i = 0; i < 40; ++i) {
          const auto bytes = i % 10 == 9 ? 30000u : 3000u;
          if (insert(store, numbered(i), noise(bytes, 7)) == write_status::inserted)
            stored.push_back(noise(bytes, 7));
        }
      }
      files.heal();
      auto store = open_store(options);
      REQUIRE(store);
      CHECK(insert(*store, "after", "x") == write_status::inserted);
      CHECK(text_of(*store, "after") == "x");
      CHECK(keys_of(*store).size() == stored.size() + 1);
      CHECK(store->verify(false)->intact());
    }
  }
}

} // namespace fault_test
