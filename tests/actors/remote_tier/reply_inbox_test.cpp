// The inbox in which replies wait for the remote tier's actor: when it notifies the actor, and
// which replies the actor takes.
#include "actors/remote_tier/reply_inbox.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

namespace reply_inbox_test {

using namespace hearth;
using actors::remote_failure;
using actors::reply_inbox;

namespace {

reply_inbox::item reply(std::uint64_t exchange, std::size_t which) {
  return {exchange, which, {remote_failure::none, "reply " + std::to_string(which), {}}};
}

} // namespace

TEST_CASE("the actor is told of the first reply since it took all replies") {
  reply_inbox inbox;
  std::vector<reply_inbox::item> taken;
  for (int round = 0; round < 3; ++round) {
    CHECK(inbox.put(reply(1, 0)));
    CHECK_FALSE(inbox.put(reply(1, 1)));
    CHECK_FALSE(inbox.put(reply(2, 0)));
    inbox.take(taken);
    REQUIRE(taken.size() == 3);
    CHECK(taken[0].exchange == 1);
    CHECK(taken[1].which == 1);
    CHECK(taken[1].reply.problem == "reply 1");
    CHECK(taken[2].exchange == 2);
    taken.clear();
  }
  inbox.take(taken);
  CHECK(taken.empty());
}

TEST_CASE("the memory of taken replies is used again for the next ones") {
  reply_inbox inbox;
  std::vector<reply_inbox::item> taken;
  taken.reserve(100);
  const auto* const room = taken.data();
  inbox.take(taken);
  for (std::size_t i = 0; i < 100; ++i)
    inbox.put(reply(1, i));
  inbox.take(taken);
  CHECK(taken.data() == room);
}

TEST_CASE(
    "replies of many threads are each taken once, in their thread's order, and none is missed") {
  constexpr std::size_t senders = 4;
  constexpr std::size_t replies = 3'000; // per sender
  reply_inbox inbox;
  std::counting_semaphore<> told(0); // the actor's mailbox
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < senders; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < replies; ++i)
        if (inbox.put(reply(t, i))) told.release();
    });
  std::vector<std::size_t> next(senders, 0);
  std::vector<reply_inbox::item> taken;
  int out_of_order = 0;
  int empty = 0;
  for (std::size_t seen = 0; seen < senders * replies; seen += taken.size()) {
    taken.clear();
    told.acquire(); // blocks for ever if a notification is missing
    inbox.take(taken);
    empty += taken.empty();
    for (const auto& one : taken)
      out_of_order += one.which != next[one.exchange]++;
  }
  for (auto& thread : threads)
    thread.join();
  CHECK(out_of_order == 0);
  CHECK(empty == 0);
  CHECK_FALSE(told.try_acquire());
}

} // namespace reply_inbox_test
