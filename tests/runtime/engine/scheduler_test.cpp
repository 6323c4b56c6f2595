#include "runtime/engine/scheduler.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <optional>
#include <thread>
#include <vector>

namespace scheduler_test {

using namespace hearth;
using namespace hearth::engine;

namespace {

struct pool {
  explicit pool(std::size_t threads) {
    share_work(settings);
    settings.set("scheduler.max-threads", threads);
    system.emplace(settings);
  }
  caf::actor_system_config settings;
  std::optional<caf::actor_system> system;
};

// Sends a number to itself so many times, from a thread of the pool; then adds it to the sum.
caf::behavior counter(caf::event_based_actor* self, std::atomic<std::uint64_t>* sum) {
  return {[self, sum](std::uint64_t number, std::uint64_t hops) {
    if (hops == 0)
      *sum += number;
    else
      self->send(self, number, hops - 1);
  }};
}

} // namespace

TEST_CASE("as many actors run at once as there are threads") {
  pool four(4);
  std::barrier all_here(4);
  std::atomic<int> passed{0};
  for (int i = 0; i < 4; ++i)
    four.system->spawn(
        [&](caf::event_based_actor*, std::barrier<>* here) {
          here->arrive_and_wait(); // blocks for ever with fewer threads
          ++passed;
        },
        &all_here);
  four.system->await_all_actors_done();
  CHECK(passed == 4);
}

TEST_CASE("every message from any thread is handled once") {
  constexpr std::size_t senders = 4;
  constexpr std::size_t receivers = 5;
  constexpr std::uint64_t messages = 2'000; // per sender
  std::atomic<std::uint64_t> sum{0};
  {
    pool three(3);
    std::vector<caf::actor> actors;
    for (std::size_t i = 0; i < receivers; ++i)
      actors.push_back(three.system->spawn(counter, &sum));
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < senders; ++t)
      threads.emplace_back([&, t] {
        for (std::uint64_t i = 1; i <= messages; ++i)
          caf::anon_send(actors[(t + i) % receivers], i, i % 3);
      });
    for (auto& thread : threads)
      thread.join();
    while (sum < senders * messages * (messages + 1) / 2)
      std::this_thread::yield();
    for (const auto& actor : actors)
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  } // waits for the actors
  CHECK(sum == senders * messages * (messages + 1) / 2);
}

} // namespace scheduler_test
