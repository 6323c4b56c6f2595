#include "runtime/process/scratch_view.hpp"

#include "tests/support/hearth_program.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

namespace scratch_view_test {

using namespace hearth;
using namespace hearth::process;
using namespace hearth::test;
namespace {

namespace fs = std::filesystem;

// A folder of the host with files in and around it, and a scratch directory beside it.
struct view_fixture {
  view_fixture() {
    fs::create_directories(folder / "sub");
    fs::create_directories(directory / "host/beside");
    write_text(folder / "a", "a");
    write_text(folder / "sub/b", "b");
    write_text(directory / "host/beside/c", "c");
    fs::create_directory(scratch);
  }
  scratch_view view() const { return {folder.string(), true, {}, {}}; }
  // Builds the folder that replaces the host's and returns its path.
  fs::path build(const scratch_view& of) const {
    const auto name = build_view(scratch, of);
    REQUIRE_MESSAGE(name, name.error().text());
    return scratch / *name;
  }
  std::string at(const std::string& name) const { return (folder / name).string(); }

  temporary_directory directory;
  fs::path folder = directory / "host/work";
  fs::path scratch = directory / "scratch";
};

} // namespace

TEST_CASE_FIXTURE(view_fixture, "files in the folder and around it are seen under the same names") {
  const auto work = build(view());
  CHECK(file_text(work / "a") == "a");
  CHECK(file_text(work / "sub/b") == "b");
  CHECK(file_text(work / "../beside/c") == "c");
  CHECK(fs::is_symlink(work / "sub"));
}

TEST_CASE_FIXTURE(view_fixture, "files are made in the scratch directory, not on the host") {
  auto one = view();
  one.places = {at("a"), at("sub/new"), at("fresh/x"), (directory / "host/beside/d").string()};
  const auto work = build(one);
  CHECK_FALSE(fs::exists(work / "a")); // the old content of an output is not visible
  CHECK(file_text(work / "sub/b") == "b");
  write_text(work / "a", "made");
  write_text(work / "sub/new", "made");
  write_text(work / "fresh/x", "made");
  write_text(work / "../beside/d", "made");
  CHECK(file_text(folder / "a") == "a");
  CHECK_FALSE(fs::exists(folder / "sub/new"));
  CHECK_FALSE(fs::exists(folder / "fresh"));
  CHECK_FALSE(fs::exists(directory / "host/beside/d"));
}

TEST_CASE_FIXTURE(view_fixture, "files that are read and made are copies") {
  auto one = view();
  one.shown = {at("a")};
  one.places = {at("a")};
  const auto work = build(one);
  CHECK(file_text(work / "a") == "a");
  write_text(work / "a", "changed");
  CHECK(file_text(folder / "a") == "a");
}

TEST_CASE_FIXTURE(view_fixture, "a restricted view shows only the chosen files") {
  auto one = view();
  one.shows_all = false;
  one.shown = {at("sub")};
  one.places = {at("sub/new")};
  const auto work = build(one);
  CHECK_FALSE(fs::exists(work / "a"));
  CHECK_FALSE(fs::exists(work / "../beside"));
  CHECK(file_text(work / "sub/b") == "b");
  write_text(work / "sub/new", "made");
  CHECK_FALSE(fs::exists(folder / "sub/new"));
}

TEST_CASE_FIXTURE(view_fixture,
                  "a crowded parent folder is shown only as far as it leads to the folder") {
  for (std::size_t i = 0; i <= max_entries_above; ++i)
    write_text(directory / ("host/file" + std::to_string(i)), "");
  const auto work = build(view());
  CHECK(file_text(work / "a") == "a");
  CHECK_FALSE(fs::exists(work / "../beside"));
}

} // namespace scratch_view_test
