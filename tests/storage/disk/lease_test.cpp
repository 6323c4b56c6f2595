#include "tests/storage/disk/store_fixture.hpp"
#include "tests/support/child_process.hpp"

namespace lease_test {

using namespace hearth;
using namespace hearth::test;

TEST_CASE("a lease is held by one table at a time") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  auto one = *store->open_leases();
  auto two = *store->open_leases();
  CHECK(*one->try_acquire(77));
  CHECK_FALSE(*one->try_acquire(77));
  CHECK_FALSE(*two->try_acquire(77));
  CHECK(*two->try_acquire(1u << 20));
  two->release(77);
  CHECK_FALSE(*two->try_acquire(77));
  one->release(77);
  CHECK(*two->try_acquire(77));
}

TEST_CASE("a table that is destroyed gives its leases back") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  auto one = *store->open_leases();
  auto two = *store->open_leases();
  CHECK(*one->try_acquire(~std::uint64_t{0}));
  CHECK_FALSE(*two->try_acquire(~std::uint64_t{0}));
  one.reset();
  CHECK(*two->try_acquire(~std::uint64_t{0}));
}

TEST_CASE("a killed process loses its leases") {
  const temporary_directory directory;
  const auto options = small_store(directory.path());
  auto store = open_store(options);
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  child_process child([&] {
    auto mine = open_store(options);
    auto leases = *mine->open_leases();
    const bool got = *leases->try_acquire(5);
    (void)!::write(ready[1], got ? "y" : "n", 1);
    ::pause();
    return 0;
  });
  char answer = 0;
  REQUIRE(::read(ready[0], &answer, 1) == 1);
  CHECK(answer == 'y');
  auto leases = *store->open_leases();
  CHECK_FALSE(*leases->try_acquire(5));
  child.kill();
  CHECK(child.wait() == -SIGKILL);
  CHECK(*leases->try_acquire(5));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("a forked child can neither take nor give back its parent's leases") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  auto leases = *store->open_leases();
  auto others = *store->open_leases();
  REQUIRE(*leases->try_acquire(9));
  child_process child([&] {
    leases->release(9);
    const auto refused = leases->try_acquire(10);
    const bool right = !refused && refused.error().code() == errc::forked;
    leases.reset();
    return right ? 0 : 1;
  });
  CHECK(child.wait() == 0);
  CHECK_FALSE(*others->try_acquire(9));
  CHECK(*others->try_acquire(10));
}

TEST_CASE("a child that outlives its parent holds none of its leases") {
  const temporary_directory directory;
  const auto options = small_store(directory.path());
  auto store = open_store(options);
  int ready[2];
  int hold[2];
  REQUIRE(::pipe(ready) == 0);
  REQUIRE(::pipe(hold) == 0);
  child_process parent([&] {
    auto mine = open_store(options);
    auto leases = *mine->open_leases();
    if (!*leases->try_acquire(5)) return 1;
    if (::fork() == 0) {
      ::close(hold[1]);
      (void)!::write(ready[1], "y", 1);
      char ignored;
      (void)!::read(hold[0], &ignored, 1); // until the test is over
      ::_exit(0);
    }
    ::pause();
    return 0;
  });
  ::close(hold[0]);
  char answer = 0;
  REQUIRE(::read(ready[0], &answer, 1) == 1);
  auto leases = *store->open_leases();
  CHECK_FALSE(*leases->try_acquire(5));
  parent.kill();
  CHECK(parent.wait() == -SIGKILL);
  CHECK(*leases->try_acquire(5));
  for (const int fd : {ready[0], ready[1], hold[1]})
    ::close(fd);
}

} // namespace lease_test
