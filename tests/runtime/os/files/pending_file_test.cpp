#include "runtime/os/files/pending_file.hpp"

#include "runtime/os/files/whole_file.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace pending_file_test {

using namespace hearth;
using namespace hearth::os;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

struct place {
  std::string text() const { return read_whole_file(target, 1 << 20).value_or("none"); }
  // The number of names in the folder.
  std::ptrdiff_t names() const {
    return std::distance(fs::directory_iterator(directory.path()), fs::directory_iterator());
  }

  test::temporary_directory directory;
  fs::path target = directory / "file";
};

constexpr int many = 300;

std::vector<pending_file> begin_many(const fs::path& folder, const std::string& text) {
  std::vector<pending_file> files;
  for (int i = 0; i < many; ++i) {
    files.push_back(pending_file::begin(folder / std::to_string(i)).value());
    REQUIRE(files.back().write(text));
  }
  return files;
}

// Until it ends, the processes that a child leaves become this one's.
struct adopts_orphans {
  adopts_orphans() { REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0); }
  adopts_orphans(const adopts_orphans&) = delete;
  adopts_orphans& operator=(const adopts_orphans&) = delete;
  ~adopts_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 0); }
};

// Waits for every child, and for the processes that they left to this one.
void wait_for_all() {
  while (::wait(nullptr) > 0 || errno == EINTR) {
  }
}

} // namespace

TEST_CASE("a pending file replaces the old one when it is committed") {
  const place here;
  REQUIRE(replace_whole_file(here.target, "old"));
  auto file = pending_file::begin(here.target);
  REQUIRE(file);
  REQUIRE(file->write("new "));
  REQUIRE(file->write("bytes"));
  REQUIRE(file->sync());
  CHECK(here.text() == "old");
  REQUIRE(file->commit());
  CHECK(here.text() == "new bytes");
  CHECK(here.names() == 1);
}

TEST_CASE("a pending file that is not committed leaves the old one and nothing else") {
  const place here;
  REQUIRE(replace_whole_file(here.target, "old"));
  {
    auto file = pending_file::begin(here.target);
    REQUIRE(file);
    auto moved = std::move(*file);
    REQUIRE(moved.write("new"));
    CHECK(here.text() == "old");
  }
  CHECK(here.text() == "old");
  CHECK(here.names() == 1);
}

TEST_CASE("a pending file has the requested mode") {
  const place here;
  auto file = pending_file::begin(here.target, 0600);
  REQUIRE(file);
  REQUIRE(file->commit());
  CHECK(fs::status(here.target).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("a pending file in a missing folder is an error that names it") {
  const place here;
  const auto file = pending_file::begin(here.directory / "missing" / "file");
  REQUIRE(!file);
  CHECK(file.error().code() == errc::not_found);
  CHECK(file.error().text().find("missing/file") != std::string::npos);
}

TEST_CASE("the error of a group commit names the first file that fails") {
  const place here;
  fs::create_directories(here.directory / "folder" / "is not empty");
  std::vector<pending_file> files;
  for (const auto* name : {"one", "folder", "two"}) {
    files.push_back(pending_file::begin(here.directory / name).value());
    REQUIRE(files.back().write("new"));
  }
  const auto refused = pending_file::commit_all(files);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text().find((here.directory / "folder").string()) != std::string::npos);
  CHECK_FALSE(fs::exists(here.directory / "two"));
  files.clear();
  CHECK(here.names() == 2); // only "one" and the folder
}

// $HEARTH_COMMIT_ROUNDS is the least number of rounds (default 20). Each kill comes within a time
// that grows when a round replaced no file and shrinks when it replaced all: so the kills fall
// around the commit on any machine, and rounds of both kinds occur.
TEST_CASE("files that are committed together are all replaced or none at a kill at any moment") {
  const adopts_orphans parent_of_all;
  const char* asked = std::getenv("HEARTH_COMMIT_ROUNDS");
  const int rounds = asked ? std::atoi(asked) : 20;
  std::mt19937 random(7);
  const place here;
  int all = 0;
  int done = 0;
  double within_us = 10'000;
  for (; done < rounds || ((all == 0 || all == done) && done < 50 * rounds); ++done) {
    const int round = done;
    const auto text = std::to_string(round);
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    test::child_process child([&] {
      auto files = begin_many(here.directory.path(), text);
      if (::write(ready[1], "r", 1) != 1) return 1;
      return pending_file::commit_all(files) ? 0 : 2;
    });
    char mark = 0;
    REQUIRE(::read(ready[0], &mark, 1) == 1);
    const auto kill_at = std::chrono::steady_clock::now() +
                         std::chrono::nanoseconds(random() % static_cast<unsigned>(within_us) *
                                                  std::uint64_t{1'000});
    while (std::chrono::steady_clock::now() < kill_at) {
    }
    child.kill();
    child.wait();
    wait_for_all();
    ::close(ready[0]);
    ::close(ready[1]);
    int fresh = 0;
    for (int i = 0; i < many; ++i)
      fresh += read_whole_file(here.directory / std::to_string(i), 100).value_or("") == text;
    CHECK_MESSAGE((fresh == 0 || fresh == many), fresh << " of " << many << " are new");
    CHECK((here.names() == 0 || here.names() == many));
    all += fresh == many;
    within_us = std::clamp(fresh == many ? within_us / 2 : within_us * 2, 1., 1e6);
  }
  CHECK(all > 0);
  CHECK(all < done);
  MESSAGE(all << " of " << done << " rounds put all files in place");
}

} // namespace pending_file_test
