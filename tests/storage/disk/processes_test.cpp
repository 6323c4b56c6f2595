// Several processes over one store. Each child opens the store itself, unless the test is about a
// forked child's use of its parent's store.
#include "tests/storage/disk/store_fixture.hpp"
#include "tests/support/child_process.hpp"

#include <fcntl.h>
#include <sys/file.h>

namespace processes_test {

using namespace hearth;
using namespace hearth::test;
using storage::read_status;
using storage::write_kind;
using storage::write_status;

TEST_CASE("one of many processes that insert one key wins and all see its value") {
  const temporary_directory directory;
  const auto options = small_store(directory.path());
  constexpr int keys = 300;
  std::vector<std::unique_ptr<child_process>> children;
  for (int child = 0; child < 4; ++child)
    children.push_back(std::make_unique<child_process>([&, child] {
      auto store = open_store(options);
      int won = 0;
      for (int i = 0; i < keys; ++i) {
        const auto status = insert(*store, numbered(i), std::to_string(child));
        if (status == write_status::failed) return 255;
        won += status == write_status::inserted;
        if (text_of(*store, numbered(i)).size() != 1) return 254;
      }
      auto tally =
          write(*store, write_kind::insert, "won" + std::to_string(child), std::to_string(won));
      return tally.status == write_status::inserted ? 0 : 253;
    }));
  for (auto& child : children)
    CHECK(child->wait() == 0);
  auto store = open_store(options);
  int total = 0;
  for (int child = 0; child < 4; ++child) {
    const int won = std::stoi(text_of(*store, "won" + std::to_string(child)));
    int holds = 0;
    for (int i = 0; i < keys; ++i)
      holds += text_of(*store, numbered(i)) == std::to_string(child);
    CHECK(holds == won);
    total += won;
  }
  CHECK(total == keys);
  CHECK(store->verify(false)->intact());
}

TEST_CASE("processes that open a new store at once share it") {
  const temporary_directory directory;
  auto options = small_store(directory / "made" / "by" / "all");
  options.shards = 4;
  std::vector<std::unique_ptr<child_process>> children;
  for (int child = 0; child < 6; ++child)
    children.push_back(std::make_unique<child_process>([&, child] {
      auto store = open_store(options);
      if (!store) return 1;
      return insert(*store, numbered(child), "x") == write_status::inserted ? 0 : 2;
    }));
  for (auto& child : children)
    CHECK(child->wait() == 0);
  auto store = open_store(options);
  for (int child = 0; child < 6; ++child)
    CHECK(text_of(*store, numbered(child)) == "x");
}

TEST_CASE("entries that another process writes while the index grows are seen at once") {
  const temporary_directory directory;
  const auto options = small_store(directory.path());
  auto store = open_store(options);
  insert(*store, "first", "1");
  child_process child([&] {
    auto mine = open_store(options);
    std::vector<std::string> keys;
    for (int i = 0; i < 9000; ++i)
      keys.push_back(numbered(i));
    for (std::size_t i = 0; i < keys.size(); i += 250) {
      std::vector<storage::write_request> group;
      for (std::size_t j = i; j < i + 250; ++j)
        group.push_back({write_kind::insert, {test_cache(), keys[j]}, artifact::make(keys[j]), 0});
      mine->apply(0, group);
    }
    return text_of(*mine, "first") == "1" ? 0 : 1;
  });
  CHECK(child.wait() == 0);
  CHECK(text_of(*store, "first") == "1");
  for (int i = 0; i < 9000; i += 7)
    REQUIRE(text_of(*store, numbered(i)) == numbered(i));
  CHECK(insert(*store, numbered(3), "x") == write_status::exists);
}

TEST_CASE("a killed writer blocks no other process and loses nothing acknowledged") {
  const temporary_directory directory;
  const auto options = small_store(directory.path());
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  child_process child([&]() -> int {
    auto store = open_store(options);
    for (int i = 0;; ++i) {
      if (insert(*store, numbered(i), noise(500, static_cast<std::uint64_t>(i))) !=
          write_status::inserted)
        return 1;
      if (::write(ready[1], &i, sizeof i) != sizeof i) return 2;
    }
  });
  int acknowledged = -1;
  while (acknowledged < 200)
    REQUIRE(::read(ready[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged);
  child.kill();
  child.wait();
  ::close(ready[1]);
  for (int next = 0; ::read(ready[0], &next, sizeof next) == sizeof next;)
    acknowledged = next;
  ::close(ready[0]);
  auto store = open_store(options);
  CHECK(store->stats().rebuilds == 0);
  for (int i = 0; i <= acknowledged; ++i)
    REQUIRE(text_of(*store, numbered(i)) == noise(500, static_cast<std::uint64_t>(i)));
  CHECK(insert(*store, "after", "x") == write_status::inserted);
  CHECK(store->verify(false)->intact());
}

TEST_CASE("a stopped holder of the lock delays others by their deadline and causes an error") {
  const temporary_directory directory;
  auto options = small_store(directory.path());
  auto store = open_store(options);
  insert(*store, "k", "v");
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  child_process child([&] {
    const int head = ::open((directory / "v1/shards/00/head").c_str(), O_RDWR);
    const bool locked = ::flock(head, LOCK_EX) == 0;
    (void)!::write(ready[1], locked ? "y" : "n", 1);
    ::pause();
    return 0;
  });
  char answer = 0;
  REQUIRE(::read(ready[0], &answer, 1) == 1);
  REQUIRE(answer == 'y');
  options.lock_deadline = std::chrono::milliseconds(20);
  auto impatient = open_store(options);
  REQUIRE(impatient);
  const auto refused = write(*impatient, write_kind::insert, "x", "y");
  CHECK(refused.status == write_status::failed);
  CHECK(refused.why.code() == errc::busy);
  CHECK(text_of(*impatient, "k") == "v");
  child.kill();
  child.wait();
  CHECK(insert(*impatient, "x", "y") == write_status::inserted);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("a forked child reads through its parent's handle and its writes are refused") {
  const temporary_directory directory;
  const auto options = small_store(directory.path());
  auto store = open_store(options);
  for (int i = 0; i < 20; ++i)
    insert(*store, numbered(i), numbered(i));
  child_process child([&] {
    for (int i = 0; i < 20; ++i)
      if (text_of(*store, numbered(i)) != numbered(i)) return 1;
    const auto refused = write(*store, write_kind::insert, "x", "y");
    if (refused.status != write_status::failed || refused.why.code() != errc::forked) return 2;
    if (store->flush() || store->clear() || store->evict_to(0) || store->verify(true)) return 3;
    if (store->open_leases()) return 4;
    if (keys_of(*store).size() != 20) return 5;
    auto own = open_store(options);
    if (insert(*own, "child", "c") != write_status::inserted) return 6;
    store.reset();
    return 0;
  });
  CHECK(child.wait() == 0);
  CHECK(text_of(*store, "child") == "c");
  CHECK(insert(*store, "parent", "p") == write_status::inserted);
}

TEST_CASE("a child forked while the lock is held does not keep it") {
  const temporary_directory directory;
  const auto options = small_store(directory.path());
  auto store = open_store(options);
  int hold[2];
  int ready[2];
  REQUIRE(::pipe(hold) == 0);
  REQUIRE(::pipe(ready) == 0);
  child_process parent([&]() -> int {
    auto mine = open_store(options);
    if (::fork() == 0) {
      ::close(hold[1]);
      (void)!::write(ready[1], "y", 1);
      char ignored;
      (void)!::read(hold[0], &ignored, 1);
      ::_exit(0);
    }
    for (int i = 0;; ++i)
      put(*mine, "k", noise(2000, static_cast<std::uint64_t>(i)));
  });
  ::close(hold[0]);
  char answer = 0;
  REQUIRE(::read(ready[0], &answer, 1) == 1);
  parent.kill();
  parent.wait();
  const auto after = write(*store, write_kind::insert, "x", "y");
  CHECK_MESSAGE(after.status == write_status::inserted, after.why.to_string());
  for (const int fd : {hold[1], ready[0], ready[1]})
    ::close(fd);
}

TEST_CASE("a store that was removed while open is noticed and created again") {
  const temporary_directory directory;
  const auto options = small_store(directory / "store");
  auto store = open_store(options);
  insert(*store, "k", "v");
  std::filesystem::remove_all(directory / "store");
  const auto first = write(*store, write_kind::insert, "x", "y");
  CHECK(first.status == write_status::inserted);
  CHECK(text_of(*store, "x") == "y");
  CHECK(text_of(*store, "k") == "<miss>");
  auto other = open_store(options);
  CHECK(text_of(*other, "x") == "y");
}

} // namespace processes_test
