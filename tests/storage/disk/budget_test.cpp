// The budget, measured in blocks of the disk, not in the store's own figures.
#include "tests/storage/disk/store_fixture.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/disk_blocks.hpp"

using namespace hearth;
using namespace hearth::test;
using storage::write_status;

namespace {

std::string numbered(int i) { return "key" + std::to_string(i); }

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
  for (const std::uint64_t budget : {1u << 20, 2u << 20, 4u << 20}) {
    for (const bool killed : {false, true}) {
      CAPTURE(budget);
      CAPTURE(killed);
      const temporary_directory directory;
      const auto options = with_budget(directory.path(), budget);
      std::uint64_t most = 0;
      for (int process = 0; process < 120; ++process) {
        child_process child([&] { return short_life(options, process * 12, 12, killed); });
        REQUIRE(child.wait() == (killed ? -SIGKILL : 0));
        most = std::max(most, blocks_under(directory.path()));
      }
      CHECK(most <= budget + budget / 8 + (32u << 10));
    }
  }
}

TEST_CASE("a store that was made with a larger budget keeps to the smaller one") {
  const temporary_directory directory;
  open_store(with_budget(directory.path(), std::uint64_t{10} << 30));
  const auto options = with_budget(directory.path(), 8u << 20);
  std::uint64_t most = 0;
  for (int process = 0; process < 60; ++process) {
    child_process child([&] { return short_life(options, process * 50, 50, false); });
    REQUIRE(child.wait() == 0);
    most = std::max(most, blocks_under(directory.path()));
  }
  CHECK(most <= (8u << 20) + (1u << 20) + (64u << 10));
}
