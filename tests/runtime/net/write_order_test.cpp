// The order of writes to a cluster, without a server.
#include "runtime/net/cluster/write_order.hpp"

#include <doctest/doctest.h>

namespace write_order_test {

using namespace hearth::net;
using hearth::actors::remote_client;

namespace {

using callback = std::shared_ptr<const remote_client::replies_callback>;

callback new_batch() {
  return std::make_shared<const remote_client::replies_callback>(
      [](std::size_t, const hearth::actors::remote_reply&) {});
}

request_ptr write_of(const callback& batch, std::uint16_t slot) {
  auto write = std::make_shared<cluster_request>();
  write->by = remote_client::lane::writes;
  write->command.answered = batch;
  write->slot = slot;
  return write;
}

constexpr std::uint64_t node_a = 1;
constexpr std::uint64_t node_b = 2;

} // namespace

TEST_CASE("write order: of those sent together, another slot waits for the ones before it") {
  write_order order;
  const auto batch = new_batch();
  const auto mark = write_of(batch, 1), set = write_of(batch, 1), log = write_of(batch, 2);
  CHECK(order.enter_batch(mark));
  CHECK(order.enter_batch(set));
  CHECK_FALSE(order.enter_batch(log));
  // Those of another batch do not wait.
  const auto other = write_of(new_batch(), 2);
  CHECK(order.enter_batch(other));
  CHECK(order.leave_batch(*mark, false).empty());
  CHECK(order.leave_batch(*other, false).empty());
  CHECK(order.leave_batch(*set, false) == std::vector{log});
  CHECK(order.leave_batch(*log, false).empty());
}

TEST_CASE("write order: a slot that comes again waits behind the one between") {
  write_order order;
  const auto batch = new_batch();
  const auto first = write_of(batch, 1), second = write_of(batch, 2), third = write_of(batch, 1);
  CHECK(order.enter_batch(first));
  CHECK_FALSE(order.enter_batch(second));
  CHECK_FALSE(order.enter_batch(third));
  CHECK(order.leave_batch(*first, false) == std::vector{second});
  CHECK(order.leave_batch(*second, false) == std::vector{third});
}

TEST_CASE("write order: what is behind a lost write is lost") {
  write_order order;
  const auto batch = new_batch();
  const auto first = write_of(batch, 1), same = write_of(batch, 1);
  const auto second = write_of(batch, 2), third = write_of(batch, 3);
  CHECK(order.enter_batch(first));
  CHECK(order.enter_batch(same));
  CHECK_FALSE(order.enter_batch(second));
  CHECK_FALSE(order.enter_batch(third));
  CHECK(order.leave_batch(*first, true) == std::vector{second, third});
  CHECK(order.leave_batch(*same, true).empty());
  CHECK(order.take_all().empty());
}

TEST_CASE("write order: a slot goes to another node once the old one has answered") {
  write_order order;
  const auto first = write_of(new_batch(), 1), second = write_of(new_batch(), 1);
  const auto third = write_of(new_batch(), 1), fourth = write_of(new_batch(), 1);
  CHECK(order.enter_slot(first, node_a));
  CHECK(order.enter_slot(second, node_a));
  CHECK_FALSE(order.enter_slot(third, node_b));
  CHECK_FALSE(order.enter_slot(fourth, node_a)); // behind the third
  CHECK(order.enter_slot(write_of(new_batch(), 2), node_b));
  CHECK(order.leave_slot(1).empty());
  CHECK(order.leave_slot(1) == std::vector{third, fourth});
  CHECK(order.enter_slot(third, node_b));
  CHECK(order.leave_slot(1).empty());
  CHECK(order.leave_slot(1).empty()); // nothing is on its way
}

TEST_CASE("write order: one that was refused could be overtaken by a later one on its way") {
  write_order order;
  const auto first = write_of(new_batch(), 1), second = write_of(new_batch(), 1);
  first->number = 1;
  second->number = 2;
  for (const auto& one : {first, second}) {
    CHECK(order.enter_batch(one));
    CHECK(order.enter_slot(one, node_a));
  }
  CHECK(order.leave_slot(1).empty()); // the first one was refused
  CHECK(order.is_overtaken(*first));
  CHECK_FALSE(order.is_overtaken(*second));
  CHECK(order.leave_slot(1).empty());
  CHECK_FALSE(order.is_overtaken(*first));
}

TEST_CASE("write order: everything that waits can be taken back") {
  write_order order;
  const auto batch = new_batch();
  const auto first = write_of(batch, 1), behind = write_of(batch, 2);
  CHECK(order.enter_batch(first));
  CHECK(order.enter_slot(first, node_a));
  CHECK_FALSE(order.enter_batch(behind));
  const auto moved = write_of(new_batch(), 1);
  CHECK(order.enter_batch(moved));
  CHECK_FALSE(order.enter_slot(moved, node_b));
  CHECK(order.take_all() == std::vector{behind, moved});
  CHECK(order.take_all().empty());
  CHECK(order.leave_slot(1).empty());
  CHECK(order.leave_batch(*first, false).empty());
}

} // namespace write_order_test
