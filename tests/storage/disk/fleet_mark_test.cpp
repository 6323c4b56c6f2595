// The store's mark of how far it has read a fleet's purges, and its number.
#include "tests/storage/disk/store_fixture.hpp"

#include <doctest/doctest.h>
#include <filesystem>

namespace fleet_mark_test {

using namespace hearth;
using namespace hearth::test;
namespace fs = std::filesystem;

TEST_CASE("fleet mark: it is there for every later opening, and a clear keeps it") {
  const temporary_directory directory;
  {
    auto store = open_store(small_store(directory.path()));
    CHECK(store->fleet_mark().empty());
    CHECK(store->set_fleet_mark("one"));
    CHECK(store->set_fleet_mark("two"));
    CHECK(store->clear());
    CHECK(open_store(small_store(directory.path()))->fleet_mark() == "two");
  }
  CHECK(open_store(small_store(directory.path()))->fleet_mark() == "two");
}

TEST_CASE("fleet mark: too long, or in a read-only store, it is refused") {
  const temporary_directory directory;
  auto options = small_store(directory.path());
  auto store = open_store(options);
  CHECK(store->set_fleet_mark(std::string(4096, 'x')));
  CHECK_FALSE(store->set_fleet_mark(std::string(4097, 'x')));
  CHECK(store->fleet_mark() == std::string(4096, 'x'));
  options.read_only = true;
  auto reader = open_store(options);
  CHECK_FALSE(reader->set_fleet_mark("y"));
  CHECK(reader->fleet_mark() == std::string(4096, 'x'));
}

TEST_CASE("a store's number is that of each of its openings, and not that of a copy") {
  const temporary_directory directory;
  const auto original = directory / "a";
  const auto number = open_store(small_store(original))->id();
  CHECK(open_store(small_store(original))->id() == number);
  fs::copy(original, directory / "b", fs::copy_options::recursive);
  fs::permissions(directory / "b", fs::perms::owner_all);
  CHECK(open_store(small_store(directory / "b"))->id() != number);
}

} // namespace fleet_mark_test
