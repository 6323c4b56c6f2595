// `verify` on a store in which other processes erase, replace and evict meanwhile.
#include "store_fixture.hpp"
#include "tests/support/faulty_file_system.hpp"

#include <functional>
#include <utility>

namespace verify_test {

using namespace hearth;
using namespace hearth::test;
namespace {

constexpr std::size_t large = 300'000; // above a quarter of a segment, so in its own segment

// Runs a hook once after a read of a whole buffer, which only a pass through a segment makes.
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

// Runs `then` after the first segment was read and before its findings are reported.
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

TEST_CASE_FIXTURE(checked_store, "repair brings back no entry that was erased meanwhile") {
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

TEST_CASE_FIXTURE(checked_store, "a large value that is replaced during verify stays replaced") {
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

TEST_CASE("a value that is erased while verify reads it is no damage") {
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
    CHECK(other->evict_to(other->stats().disk_bytes - large)); // space that no entry uses any more
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
