// `verify` on a store in which others erase, replace and evict while it looks.
#include "store_fixture.hpp"
#include "tests/support/faulty_file_system.hpp"

#include <functional>
#include <utility>

namespace verify_test {

using namespace hearth;
using namespace hearth::test;
namespace {

constexpr std::size_t large = 300'000; // above a quarter of a segment: a segment of its own

// Runs a hook once, after a read of a whole buffer: that of somebody who goes through a segment.
class watched_file_system final : public faulty_file_system {
public:
  std::function<void()> after_long_read;

  ssize_t read_at(int fd, void* to, std::size_t bytes, std::uint64_t offset) noexcept override {
    const auto got = faulty_file_system::read_at(fd, to, bytes, offset);
    if (bytes > 100'000)
      if (const auto once = std::exchange(after_long_read, nullptr)) once();
    return got;
  }
};

// When the first segment was looked at, before anything is said of it.
storage::progress_callback when_a_segment_was_read(std::function<void()> then) {
  return [then = std::move(then)](std::uint64_t done, std::uint64_t) mutable {
    if (done > 0)
      if (const auto once = std::exchange(then, nullptr)) once();
  };
}

struct checked_store {
  temporary_directory directory;
  storage::store_options options = small_store(directory.path() / "store");
  std::unique_ptr<storage::store> store = open_store(options);
  std::unique_ptr<storage::store> other = open_store(options);
};

} // namespace

TEST_CASE_FIXTURE(checked_store, "repairing brings nothing back that was erased while it looked") {
  REQUIRE(put(*store, "erased", "old") == storage::write_status::stored);
  REQUIRE(put(*store, "replaced", "old") == storage::write_status::stored);
  const auto report =
      store->verify(true, when_a_segment_was_read([&] {
                      CHECK(erase(*other, "erased") == storage::write_status::erased);
                      CHECK(put(*other, "replaced", "new") == storage::write_status::stored);
                    }));
  REQUIRE(report);
  CHECK(report->unindexed == 0);
  CHECK(report->repaired == 0);
  CHECK(text_of(*store, "erased") == "<miss>");
  CHECK(text_of(*store, "replaced") == "new");
}

TEST_CASE_FIXTURE(checked_store,
                  "what a large value replaces while it is looked at stays replaced") {
  REQUIRE(put(*store, "key", "small") == storage::write_status::stored);
  const auto report =
      store->verify(true, when_a_segment_was_read([&] {
                      CHECK(put(*other, "key", noise(large, 1)) == storage::write_status::stored);
                      CHECK(erase(*other, "key") == storage::write_status::erased);
                    }));
  REQUIRE(report);
  CHECK(report->repaired == 0);
  CHECK(text_of(*store, "key") == "<miss>");
}

TEST_CASE("a value that goes while it is read for a check is no damage") {
  temporary_directory directory;
  auto options = small_store(directory.path() / "store");
  auto other = open_store(options);
  watched_file_system files;
  options.files = &files;
  auto store = open_store(options);
  REQUIRE(put(*store, "key", noise(large, 1)) == storage::write_status::stored);
  bool went = false;
  files.after_long_read = [&] {
    CHECK(erase(*other, "key") == storage::write_status::erased);
    CHECK(other->evict_to(other->stats().disk_bytes - large)); // what no entry has any more
    CHECK(other->stats().evicted == 0);
    went = true;
  };
  const auto report = store->verify(true);
  REQUIRE(report);
  CHECK(went);
  CHECK(report->intact());
  CHECK(report->findings.empty());
  CHECK(report->repaired == 0);
}

} // namespace verify_test
