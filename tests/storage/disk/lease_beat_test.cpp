// Signs of life of lease holders.
#include "tests/storage/disk/store_fixture.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/faulty_file_system.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <unistd.h>

namespace lease_beat_test {

using namespace hearth;
using namespace hearth::test;
using storage::lease_stage;

TEST_CASE("another table sees a holder's beats") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  auto one = *store->open_leases();
  auto two = *store->open_leases();
  REQUIRE(*one->try_acquire(77));
  CHECK_FALSE(two->holder(77).value());
  one->beat(77, lease_stage::checking);
  one->beat(77, lease_stage::compiling);
  const auto seen = two->holder(77).value();
  REQUIRE(seen);
  CHECK(seen->process == static_cast<std::uint32_t>(::getpid()));
  CHECK(seen->beats == 2);
  CHECK(seen->stage == lease_stage::compiling);
  CHECK_FALSE(two->holder(78).value());
  one->release(77);
  CHECK_FALSE(two->holder(77).value());
}

TEST_CASE("only the holder beats, and its beats begin anew with each lease") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  auto one = *store->open_leases();
  auto two = *store->open_leases();
  REQUIRE(*one->try_acquire(5));
  two->beat(5, lease_stage::compiling);
  CHECK_FALSE(one->holder(5).value());
  one->beat(5, lease_stage::compiling);
  one->beat(5, lease_stage::compiling);
  one.reset(); // as a kill does: the slot stays
  CHECK(two->holder(5).value()->beats == 2);
  REQUIRE(*two->try_acquire(5));
  two->beat(5, lease_stage::storing);
  CHECK(two->holder(5).value()->beats == 1);
}

TEST_CASE("a beat that the disk takes in parts is whole") {
  const temporary_directory directory;
  faulty_file_system files;
  auto options = small_store(directory.path());
  options.files = &files;
  auto store = open_store(options);
  auto one = *store->open_leases();
  auto two = *store->open_leases();
  REQUIRE(*one->try_acquire(77));
  files.limit_writes(6);
  for (std::uint32_t beats = 1; beats < 4; ++beats) {
    one->beat(77, lease_stage::compiling);
    CHECK(two->holder(77).value()->beats == beats);
  }
}

TEST_CASE("signs of life that cannot be read are an error, not a holder without any") {
  const temporary_directory directory;
  faulty_file_system files;
  auto options = small_store(directory.path());
  options.files = &files;
  auto store = open_store(options);
  auto one = *store->open_leases();
  auto two = *store->open_leases();
  REQUIRE(*one->try_acquire(77));
  one->beat(77, lease_stage::compiling);
  files.fail(call::read, EIO);
  CHECK(two->holder(77).error().code() == errc::io);
  one->beat(77, lease_stage::compiling); // although the other slots cannot be read
  files.heal();
  CHECK(two->holder(77).value()->beats == 2);
}

TEST_CASE("more holders than slots of a window: each is seen again after some beats") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  auto mine = *store->open_leases();
  auto other = *store->open_leases();
  // 128 windows: these leases share one.
  std::vector<std::uint64_t> hashes;
  for (std::uint64_t i = 0; i < 9; ++i)
    hashes.push_back(3 + i * 128);
  for (const auto hash : hashes)
    REQUIRE(*mine->try_acquire(hash));
  std::vector<bool> was_seen(hashes.size());
  for (int beat = 0; beat < 16; ++beat)
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      mine->beat(hashes[i], lease_stage::compiling);
      if (const auto seen = other->holder(hashes[i]).value()) {
        was_seen[i] = true;
        CHECK(seen->beats == beat + 1u);
      }
    }
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    CAPTURE(i);
    CHECK(was_seen[i]);
    mine->release(hashes[i]);
  }
  for (const auto hash : hashes)
    CHECK(*other->try_acquire(hash));
}

TEST_CASE("a stopped process keeps its lease and does not beat") {
  const temporary_directory directory;
  const auto options = small_store(directory.path());
  auto store = open_store(options);
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  child_process child([&] {
    auto mine = open_store(options);
    auto leases = *mine->open_leases();
    (void)!*leases->try_acquire(5);
    leases->beat(5, lease_stage::compiling);
    (void)!::write(ready[1], "y", 1);
    ::raise(SIGSTOP);
    return 0;
  });
  char answer = 0;
  REQUIRE(::read(ready[0], &answer, 1) == 1);
  auto leases = *store->open_leases();
  CHECK_FALSE(*leases->try_acquire(5));
  const auto seen = leases->holder(5).value();
  REQUIRE(seen);
  CHECK(seen->process == static_cast<std::uint32_t>(child.pid()));
  CHECK(leases->holder(5).value() == seen);
  child.kill();
  child.wait();
  CHECK(*leases->try_acquire(5));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("a file of leases with other bytes in it stops nobody") {
  const temporary_directory directory;
  const auto options = small_store(directory.path());
  auto store = open_store(options);
  auto leases = *store->open_leases();
  const auto path = directory.path() / "v1" / "leases";
  std::ofstream(path, std::ios::binary) << std::string(32768, '\xff');
  CHECK_FALSE(leases->holder(9).value());
  REQUIRE(*leases->try_acquire(9));
  leases->beat(9, lease_stage::compiling);
  CHECK(leases->holder(9).value()->beats == 1);
  std::filesystem::resize_file(path, 40); // a torn slot
  CHECK_FALSE(leases->holder(9).value());
  leases->beat(9, lease_stage::compiling);
  CHECK(leases->holder(9).value()->beats == 2);
  leases->release(9);
}

} // namespace lease_beat_test
