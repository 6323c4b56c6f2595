#include "runtime/simulation/virtual_disk.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace virtual_disk_test {

using namespace hearth::simulation;

TEST_CASE("a file with two names takes its blocks once, until its last name is removed") {
  virtual_disk disk;
  const int fd = disk.open(AT_FDCWD, "/one", O_CREAT | O_RDWR, 0600);
  REQUIRE(fd >= 0);
  const std::string bytes(10'000, 'x');
  REQUIRE(::pwrite(disk.memory_to_change(fd), bytes.data(), bytes.size(), 0) == 10'000);
  disk.close(fd);
  const auto used = disk.used_bytes();
  CHECK(used >= bytes.size());
  REQUIRE(disk.link(AT_FDCWD, "/one", "/two") == 0);
  CHECK(disk.used_bytes() == used);
  REQUIRE(disk.remove(AT_FDCWD, "/one") == 0);
  CHECK(disk.used_bytes() == used);
  REQUIRE(disk.remove(AT_FDCWD, "/two") == 0);
  CHECK(disk.used_bytes() == 0);
}

namespace {

// Whether a power loss keeps bytes that were written and synced, under each of the first seeds.
int seeds_that_keep_synced_bytes(bool lies) {
  int kept = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    virtual_disk disk;
    const int root = disk.open(AT_FDCWD, "/", O_RDONLY, 0);
    const int fd = disk.open(AT_FDCWD, "/file", O_CREAT | O_RDWR, 0600);
    REQUIRE(::pwrite(disk.memory_to_change(fd), "bytes", 5, 0) == 5);
    disk.lie_about_syncs(lies);
    CHECK(disk.sync(fd) == 0);
    CHECK(disk.sync(root) == 0);
    disk.close(fd);
    disk.close(root);
    random_source random(seed);
    disk.lose_power(random);
    const auto left = disk.find("/file");
    kept += left && left->contents() == "bytes";
  }
  return kept;
}

} // namespace

TEST_CASE("a power loss keeps synced data, unless the disk lied about it") {
  CHECK(seeds_that_keep_synced_bytes(false) == 50);
  const int kept = seeds_that_keep_synced_bytes(true);
  CHECK(kept > 0);
  CHECK(kept < 50);
}

} // namespace virtual_disk_test
