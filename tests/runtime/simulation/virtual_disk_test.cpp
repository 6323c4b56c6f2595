#include "runtime/simulation/virtual_disk.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace virtual_disk_test {

using namespace hearth::simulation;

TEST_CASE("a file with two names takes its blocks once, and as long as it has one") {
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

} // namespace virtual_disk_test
