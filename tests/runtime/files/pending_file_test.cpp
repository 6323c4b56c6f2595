#include "runtime/files/pending_file.hpp"

#include "runtime/files/whole_file.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <iterator>
#include <string>
#include <utility>

using namespace hearth;
namespace fs = std::filesystem;

namespace {

struct place {
  std::string text() const { return read_whole_file(target, 1 << 20).value_or("none"); }
  // How many names there are in the folder.
  std::ptrdiff_t names() const {
    return std::distance(fs::directory_iterator(directory.path()), fs::directory_iterator());
  }

  test::temporary_directory directory;
  fs::path target = directory / "file";
};

} // namespace

TEST_CASE("a pending file is seen when it is committed, in place of what was there") {
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

TEST_CASE("a pending file that is not committed leaves what was there and nothing else") {
  const place here;
  REQUIRE(replace_whole_file(here.target, "old"));
  for (const bool is_named : {false, true}) {
    CAPTURE(is_named);
    auto file = pending_file::begin(here.target);
    REQUIRE(file);
    auto moved = std::move(*file);
    REQUIRE(moved.write("new"));
    if (is_named) REQUIRE(moved.name_it());
    CHECK(here.text() == "old");
  }
  CHECK(here.text() == "old");
  CHECK(here.names() == 1);
}

TEST_CASE("a pending file has the mode that was asked for") {
  const place here;
  auto file = pending_file::begin(here.target, 0600);
  REQUIRE(file);
  REQUIRE(file->commit());
  CHECK(fs::status(here.target).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("a pending file in a folder that is not there is an error that names it") {
  const place here;
  const auto file = pending_file::begin(here.directory / "missing" / "file");
  REQUIRE(!file);
  CHECK(file.error().code() == errc::not_found);
  CHECK(file.error().text().find("missing/file") != std::string::npos);
}
