#include "runtime/fingerprints/observation.hpp"

#include "tests/support/temporary_directory.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>

namespace observation_test {

using namespace hearth;
using namespace hearth::fingerprints;

namespace {

struct folder {
  test::temporary_directory directory;
  std::string path = directory / "file";
  void write(const std::string& content) const { std::ofstream(path) << content; }
  expected<std::string> observe_since(const start_of_run& start) const {
    file_view files;
    return observe({{"file", path}}, start, files);
  }
  bool holds_now(const std::string& observation) const {
    file_view files;
    return holds(
        observation, [&](const std::string&) { return path; }, files);
  }
};

} // namespace

TEST_CASE_FIXTURE(folder, "an observation holds until a file's content changes") {
  write("one");
  const auto seen = observe_since(start_of_run());
  REQUIRE_MESSAGE(seen, seen.error().text());
  CHECK(holds_now(*seen));
  write("two");
  CHECK_FALSE(holds_now(*seen));
  write("one");
  CHECK(holds_now(*seen));
  std::filesystem::remove(path);
  CHECK_FALSE(holds_now(*seen));
}

TEST_CASE_FIXTURE(folder, "a change after the start of a command shows, however soon it comes") {
  write("one");
  const start_of_run start;
  start.wait_until_changes_show();
  write("two");
  const auto seen = observe_since(start);
  REQUIRE_FALSE(seen);
  CHECK(seen.error().code() == errc::busy);
  // Also if the file gets the time back that it had.
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() -
                                             std::chrono::hours(1));
  CHECK(observe_since(start).error().code() == errc::busy);
}

TEST_CASE_FIXTURE(folder, "a file on a mount that the start did not have is not kept") {
  write("one");
  start_of_run start;
  if (!start.mounts) {
    MESSAGE("not tested: this system does not list its mounts");
    return;
  }
  CHECK(start.mounts->contains(stamp_now(path)->mount));
  start.mounts->clear();
  CHECK(observe_since(start).error().code() == errc::busy);
}

} // namespace observation_test
