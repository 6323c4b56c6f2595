// The background thread that evicts and syncs, driven by the test; its state in a forked child; and
// the handling of sync errors.
#include "tests/storage/disk/store_fixture.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/disk_blocks.hpp"
#include "tests/support/faulty_file_system.hpp"
#include "tests/support/volatile_file_system.hpp"

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace sync_test {

using namespace hearth;
using namespace hearth::test;
using storage::write_kind;
using storage::write_status;

namespace {

// Time passes only when the test says so.
class manual_timer final : public storage::sync_timer {
public:
  bool wait(std::chrono::milliseconds) override {
    std::unique_lock lock(mutex_);
    is_waiting_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return has_ticked_ || is_woken_; });
    is_waiting_ = false;
    const bool passed = !is_woken_;
    (passed ? has_ticked_ : is_woken_) = false;
    return passed;
  }
  void wake() noexcept override {
    const std::lock_guard lock(mutex_);
    is_woken_ = true;
    changed_.notify_all();
  }

  /// Lets the interval pass, and returns when the thread has finished its work.
  void tick() {
    settle();
    {
      const std::lock_guard lock(mutex_);
      has_ticked_ = true;
      changed_.notify_all();
    }
    settle();
  }
  /// Returns when the thread waits and has no work left.
  void settle() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_waiting_ && !is_woken_ && !has_ticked_; });
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_waiting_ = false;
  bool has_ticked_ = false;
  bool is_woken_ = false;
};

struct ticking_store {
  temporary_directory directory;
  volatile_file_system files;
  std::shared_ptr<manual_timer> timer = std::make_shared<manual_timer>();
  storage::store_options options = small_store(directory / "store");
  std::unique_ptr<storage::store> store;

  ticking_store() {
    options.files = &files;
    options.sync_interval = std::chrono::milliseconds(1);
    options.timer = timer;
    store = open_store(options);
  }
  // The value that a reader finds after a power loss now.
  std::string after_power_loss(const std::string& key) {
    const temporary_directory lost;
    files.lose_power(directory / "store", lost / "store", 1);
    return text_of(*open_store(small_store(lost / "store")), key);
  }
};

} // namespace

TEST_CASE("the background thread syncs when its interval has passed, and not before") {
  ticking_store one;
  const auto value = noise(20'000, 1);
  insert(*one.store, "k", value);
  const int syncs = one.files.calls(call::sync);
  one.timer->settle();
  CHECK(one.files.calls(call::sync) == syncs);
  one.timer->tick();
  CHECK(one.files.calls(call::sync) > syncs);
  for (int round = 0; round < 4; ++round)
    CHECK(one.after_power_loss("k") == value);
}

TEST_CASE("the background thread does nothing while there are no writes") {
  ticking_store one;
  one.timer->tick();
  const int syncs = one.files.calls(call::sync);
  one.timer->tick();
  CHECK(one.files.calls(call::sync) == syncs);
}

TEST_CASE("an error of a sync in the background is told by every flush until its segment is gone") {
  ticking_store one;
  insert(*one.store, "k", "v");
  one.files.fail(call::sync, EIO);
  one.timer->tick();
  one.files.heal();
  for (int round = 0; round < 2; ++round) {
    const auto flushed = one.store->flush();
    REQUIRE(!flushed);
    CHECK(flushed.error().code() == errc::io);
    CHECK(flushed.error().text().find("could not sync") != std::string::npos);
  }
  auto others = one.options;
  others.sync_interval = std::chrono::milliseconds(0);
  auto other = open_store(others); // another process that opens the store gets the error too
  CHECK(!other->flush());
  CHECK(text_of(*one.store, "k") == "v");
  CHECK(insert(*one.store, "later", "w") == write_status::inserted);
  REQUIRE(one.store->clear());
  CHECK(one.store->flush());
}

TEST_CASE("an error of a sync is remembered when the lock for recording it is not available") {
  const temporary_directory directory;
  // Fails a sync, and keeps the head locked from then on.
  class grabbing : public faulty_file_system {
  public:
    int sync(int fd) noexcept override {
      const int result = faulty_file_system::sync(fd);
      if (result < 0) is_taken = true;
      return result;
    }
    int try_lock(int fd, bool exclusive) noexcept override {
      return is_taken ? -EWOULDBLOCK : faulty_file_system::try_lock(fd, exclusive);
    }
    std::atomic<bool> is_taken{false};
  } files;
  auto options = small_store(directory.path());
  options.files = &files;
  options.lock_deadline = std::chrono::milliseconds(1);
  auto store = open_store(options);
  insert(*store, "k", "v");
  files.fail(call::sync, EIO);
  CHECK(!store->flush());
  files.heal();
  files.is_taken = false;
  const auto flushed = store->flush();
  REQUIRE(!flushed);
  CHECK(flushed.error().text().find("could not sync") != std::string::npos);
}

TEST_CASE("a store evicts on a disk that cannot sync, and flush reports the error") {
  const temporary_directory directory;
  faulty_file_system files;
  auto options = small_store(directory.path());
  options.files = &files;
  options.budget_bytes = 4u << 20;
  auto store = open_store(options);
  insert(*store, "hot", "still here");
  REQUIRE(store->flush());
  files.fail(call::sync, EIO);
  for (int i = 0; i < 1500; ++i) { // 13 MB
    REQUIRE(insert(*store, numbered(i), noise(9000, 1)) == write_status::inserted);
    REQUIRE(text_of(*store, "hot") == "still here");
  }
  CHECK(blocks_under(directory.path()) <= (4u << 20) + (512u << 10) + (32u << 10));
  CHECK(!store->flush());
}

TEST_CASE("the background thread evicts as soon as a segment begins over the budget") {
  ticking_store one;
  one.store.reset();
  one.options.budget_bytes = 4u << 20;
  one.store = open_store(one.options);
  for (int i = 0; i < 1500; ++i) { // 13 MB; the interval never passes
    REQUIRE(insert(*one.store, numbered(i), noise(9000, static_cast<std::uint64_t>(i))) ==
            write_status::inserted);
    if (i % 50 == 0) {
      one.timer->settle();
      REQUIRE(blocks_under(one.directory / "store") <= (4u << 20) + (512u << 10) + (32u << 10));
    }
  }
  CHECK(one.store->stats().evicted > 500);
  CHECK(text_of(*one.store, numbered(1499)) == noise(9000, 1499));
}

TEST_CASE("a child forked beside the background thread reads, refuses to write and ends") {
  ticking_store one;
  insert(*one.store, "k", "v");
  one.timer->settle();
  child_process child([&] {
    if (text_of(*one.store, "k") != "v") return 1;
    const auto refused = write(*one.store, write_kind::insert, "c", "x");
    if (refused.status != write_status::failed || refused.why.code() != errc::forked) return 2;
    if (auto flushed = one.store->flush(); flushed || flushed.error().code() != errc::forked)
      return 3;
    if (auto cleared = one.store->clear(); cleared || cleared.error().code() != errc::forked)
      return 4;
    if (auto evicted = one.store->evict_to(0); evicted || evicted.error().code() != errc::forked)
      return 5;
    if (auto repaired = one.store->verify(true);
        repaired || repaired.error().code() != errc::forked)
      return 6;
    if (!one.store->verify(false) || one.store->stats().entries != 1) return 7;
    one.store.reset(); // the thread is not in the child: nothing waits for it
    return 0;
  });
  CHECK(child.wait() == 0);
  insert(*one.store, "k2", "v2");
  one.timer->tick(); // the parent's thread goes on
  CHECK(one.after_power_loss("k2") == "v2");
}

TEST_CASE("a child forked in the middle of a sync does not hang") {
  const temporary_directory directory;
  // Forks inside a sync, on the thread that makes it.
  class forking : public faulty_file_system {
  public:
    int sync(int fd) noexcept override {
      if (std::exchange(is_due, false)) {
        child_process child([&] {
          if (text_of(*store, "k") != "v") return 1;
          return insert(*store, "c", "x") == write_status::failed ? 0 : 2;
        });
        status = child.wait();
      }
      return faulty_file_system::sync(fd);
    }
    storage::store* store = nullptr;
    bool is_due = false;
    std::atomic<int> status{-1};
  } files;
  auto timer = std::make_shared<manual_timer>();
  auto options = small_store(directory.path());
  options.files = &files;
  options.timer = timer;
  options.sync_interval = std::chrono::milliseconds(1);
  auto store = open_store(options);
  insert(*store, "k", "v");
  timer->settle();
  files.store = store.get();
  files.is_due = true;
  timer->tick();
  CHECK(files.status == 0);
  CHECK(insert(*store, "after", "x") == write_status::inserted);
  CHECK(store->flush());
}

TEST_CASE("a value is compressed when its write requests it, and reads the same") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  const std::string text(100'000, 'a');
  const storage::entry_key packed(test_cache(), "packed");
  const storage::entry_key plain(test_cache(), "plain");
  std::vector<storage::write_request> group{
      {.kind = write_kind::insert,
       .key = packed,
       .value = artifact::make(text, "m"),
       .compress = true},
      {.kind = write_kind::insert, .key = plain, .value = artifact::make(text, "m")}};
  store->apply(0, group);
  CHECK(text_of(*store, "packed") == text);
  CHECK(text_of(*store, "plain") == text);
  CHECK(store->list([&](const storage::entry_info& entry) {
    CHECK(entry.payload_bytes == text.size());
    CHECK((entry.stored_bytes < 1000) == (entry.key == "packed"));
    return true;
  }));
  // A value that does not shrink is stored uncompressed.
  const auto hard = noise(50'000, 1);
  storage::write_request one{.kind = write_kind::insert,
                             .key = {test_cache(), "hard"},
                             .value = artifact::make(hard),
                             .compress = true};
  store->apply(0, {&one, 1});
  CHECK(text_of(*store, "hard") == hard);
  CHECK(store->verify(false)->intact());
}

} // namespace sync_test
