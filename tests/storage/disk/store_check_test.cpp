#include "storage/disk/store_check.hpp"

#include "tests/storage/disk/store_fixture.hpp"

#include <filesystem>
#include <fstream>

namespace store_check_test {

using namespace hearth;
using namespace hearth::test;
namespace fs = std::filesystem;

TEST_CASE("a check makes nothing, and says what opening a store would") {
  const temporary_directory work;
  const auto place = work / "a" / "store";
  CHECK(storage::check_store(place));
  CHECK_FALSE(fs::exists(work / "a"));
  const auto check_refused = [&] {
    const auto checked = storage::check_store(place);
    const auto opened = storage::store::open(small_store(place));
    REQUIRE_FALSE(opened);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().to_string() == opened.error().to_string());
  };
  SUBCASE("a file above it") {
    std::ofstream(work / "a") << "";
    check_refused();
  }
  SUBCASE("a file in its place") {
    fs::create_directory(work / "a");
    std::ofstream(place) << "";
    check_refused();
  }
  SUBCASE("a link that leads nowhere") {
    fs::create_directory(work / "a");
    fs::create_symlink("nowhere", place);
    check_refused();
  }
  SUBCASE("a folder that others may write") {
    fs::create_directories(place);
    fs::permissions(place, fs::perms::all);
    check_refused();
  }
  SUBCASE("a folder of the format that others may read") {
    fs::create_directories(place / "v1");
    fs::permissions(place, fs::perms::owner_all);
    fs::permissions(place / "v1", fs::perms::owner_all | fs::perms::others_read);
    check_refused();
  }
}

TEST_CASE("a check lets a folder be that is empty, and a store that is in use") {
  const temporary_directory work;
  const auto place = work / "store";
  fs::create_directory(place);
  fs::permissions(place, fs::perms::owner_all);
  CHECK(storage::check_store(place));
  CHECK(fs::is_empty(place));
  const auto used = open_store(small_store(place));
  REQUIRE(used);
  CHECK(storage::check_store(place));
}

} // namespace store_check_test
