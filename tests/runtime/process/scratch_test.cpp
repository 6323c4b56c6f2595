#include "runtime/process/scratch.hpp"

#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace scratch_test {

using namespace hearth;
using namespace hearth::process;
namespace fs = std::filesystem;

namespace {

// $TMPDIR is this test's own directory while the fixture lives.
struct own_tmpdir {
  own_tmpdir() {
    if (const char* old = std::getenv("TMPDIR")) before = old;
    setenv("TMPDIR", directory.path().c_str(), 1);
  }
  ~own_tmpdir() { before.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before.c_str(), 1); }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory.path()), fs::directory_iterator{}));
  }
  test::temporary_directory directory;
  std::string before;
};

} // namespace

TEST_CASE_FIXTURE(own_tmpdir, "scratch directories hold files and are removed with their space") {
  {
    temporary_scratch_space space;
    auto one = space.make().value();
    auto two = space.make().value();
    CHECK(one->path("") != two->path(""));
    REQUIRE(one->write("a", "bytes"));
    CHECK(one->read("a")->payload() == "bytes");
    CHECK_FALSE(one->write("a", "again"));
    CHECK(two->read("a").error().code() == errc::not_found);
    const auto path = one->path("");
    one.reset();
    CHECK_FALSE(fs::exists(path));
    two.reset();
  }
  CHECK(entries() == 0);
}

TEST_CASE_FIXTURE(own_tmpdir, "the space of a killed process is removed and a live one is not") {
  temporary_scratch_space alive;
  const auto kept = alive.make().value();
  const auto left = directory / "hearth-scratch-killed";
  fs::create_directory(left);
  std::ofstream(left / "lock").put('\n');
  std::ofstream(left / "kernel.so").put('\n');
  temporary_scratch_space next;
  const auto made = next.make().value();
  CHECK_FALSE(fs::exists(left));
  CHECK(fs::exists(kept->path("")));
}

TEST_CASE_FIXTURE(own_tmpdir, "spaces that begin at once do not remove each other as left over") {
  // Each looks for left-over spaces when it begins, while others are about to lock theirs.
  std::atomic<int> lost{0};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&] {
        for (int round = 0; round < 500; ++round) {
          temporary_scratch_space space;
          const auto one = space.make();
          lost += !one || !(*one)->write("a", "bytes") || !(*one)->read("a");
        }
      });
  }
  CHECK(lost.load() == 0);
  CHECK(entries() == 0);
}

} // namespace scratch_test
