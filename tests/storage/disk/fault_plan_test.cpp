#include "storage/disk/os/fault_plan.hpp"

#include <cerrno>
#include <doctest/doctest.h>

namespace fault_plan_test {

using namespace hearth::storage;

TEST_CASE("a plan lets some calls succeed, then some fail, and counts each kind") {
  fault_plan plan;
  plan.fail(disk_call::write, {ENOSPC, 2, 1});
  CHECK(plan.next(disk_call::write) == 0);
  CHECK(plan.next(disk_call::read) == 0);
  CHECK(plan.next(disk_call::write) == 0);
  CHECK(plan.next(disk_call::write) == -ENOSPC);
  CHECK(plan.next(disk_call::write) == 0);
  CHECK(plan.calls(disk_call::write) == 4);
  CHECK(plan.calls(disk_call::read) == 1);
  plan.fail(disk_call::sync, {EIO});
  CHECK(plan.next(disk_call::sync) == -EIO);
  plan.heal();
  CHECK(plan.next(disk_call::sync) == 0);
}

TEST_CASE("every call has a name and is found by it") {
  for (unsigned i = 0; i < static_cast<unsigned>(disk_call::count); ++i) {
    const auto call = static_cast<disk_call>(i);
    CHECK(disk_call_named(to_string(call)) == call);
  }
  CHECK_FALSE(disk_call_named("write_at"));
  CHECK_FALSE(disk_call_named(""));
}

TEST_CASE("a write is shortened to its first non-empty part") {
  char bytes[8] = {};
  const iovec parts[] = {{bytes, 0}, {bytes + 1, 5}, {bytes + 6, 2}};
  const auto first = shortened(parts, 3, 3);
  CHECK(first.iov_base == bytes + 1);
  CHECK(first.iov_len == 3);
  CHECK(shortened(parts, 3, 100).iov_len == 5);
  CHECK(shortened(parts, 1, 3).iov_len == 0);
}

} // namespace fault_plan_test
