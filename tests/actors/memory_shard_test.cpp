#include "actors/memory_shard.hpp"

#include "tests/support/tiers.hpp"

#include <caf/event_based_actor.hpp>

namespace memory_shard_test {

using namespace hearth;
using namespace hearth::test;

namespace {

struct fixture : deterministic {
  temporary_directory directory;
  tiers one{*this, directory.path()};
  const cache_key k = key_in("fxgraph", "k");
  const artifact value = artifact::make("binary", value::map{{"time_taken_ns", 5}});

  expected<lookup> get(const memory_shard_actor& shard) {
    return ask<lookup>(shard, verb::get_v, k);
  }
  expected<insert_outcome> insert(const memory_shard_actor& shard, const artifact& what) {
    return ask<insert_outcome>(shard, verb::insert_v, k, what);
  }
};

// Requests a lease with a completion, as a plain thread does.
struct waiter {
  explicit waiter(deterministic& in, const memory_shard_actor& shard, const cache_key& k) {
    caf::anon_send(shard, verb::acquire_v, k, lease_completion(state));
    in.scheduler.run();
  }
  bool answered() const { return state->ready(); }
  expected<lease_reply> take() { return state->wait(); }

  std::shared_ptr<completion_state<lease_reply>> state =
      std::make_shared<completion_state<lease_reply>>();
};

} // namespace

TEST_CASE_FIXTURE(fixture, "a get misses then hits in memory after an insert") {
  CHECK_FALSE(get(one.shard)->hit());
  CHECK(*insert(one.shard, value) == insert_outcome::inserted);
  const auto found = get(one.shard);
  CHECK(found->from == tier::memory);
  CHECK(same_bytes(found->value, value));
}

TEST_CASE_FIXTURE(fixture, "the first writer wins and the second is told") {
  CHECK(*insert(one.shard, value) == insert_outcome::inserted);
  CHECK(*insert(one.shard, artifact::make("late")) == insert_outcome::exists);
  CHECK(get(one.shard)->value.payload() == "binary");
}

TEST_CASE_FIXTURE(fixture, "the first writer wins across processes and all see its bytes") {
  tiers two(*this, directory.path());
  CHECK(*insert(one.shard, value) == insert_outcome::inserted);
  CHECK(*insert(two.shard, artifact::make("late")) == insert_outcome::exists);
  const auto found = get(two.shard);
  CHECK(found->from == tier::disk);
  CHECK(found->value.payload() == "binary");
  CHECK(get(two.shard)->from == tier::memory);
}

TEST_CASE_FIXTURE(fixture, "a put by another process is seen although memory had the old value") {
  tiers two(*this, directory.path());
  CHECK(*insert(one.shard, value) == insert_outcome::inserted);
  CHECK(get(one.shard)->from == tier::memory);
  CHECK(ask<done>(two.shard, verb::put_v, k, artifact::make("new")));
  CHECK(get(one.shard)->value.payload() == "new");
  CHECK(*ask<bool>(two.shard, verb::erase_v, k));
  CHECK_FALSE(get(one.shard)->hit());
}

TEST_CASE_FIXTURE(fixture, "a put of this process leaves other entries in memory") {
  const auto other = key_in("fxgraph", "other");
  CHECK(ask<insert_outcome>(one.shard, verb::insert_v, other, value));
  CHECK(ask<done>(one.shard, verb::put_v, k, artifact::make("new")));
  CHECK(get(one.shard)->from == tier::memory);
  CHECK(ask<lookup>(one.shard, verb::get_v, other)->from == tier::memory);
}

TEST_CASE_FIXTURE(fixture, "a promotion that was overtaken by a put is dropped") {
  CHECK(*insert(one.shard, value) == insert_outcome::inserted);
  const auto epoch = one.store->epoch(one.store->shard_of(k.disk_hash));
  CHECK(ask<done>(one.shard, verb::put_v, k, artifact::make("new")));
  CHECK(ask<done>(one.shard, verb::clear_v));
  REQUIRE(one.view->begin_promotion());
  caf::anon_send(one.shard, verb::promote_v, k, value, epoch);
  scheduler.run();
  CHECK(get(one.shard)->value.payload() == "new");
}

TEST_CASE_FIXTURE(fixture, "a key is looked for once for any number of requests") {
  std::vector<std::shared_ptr<completion_state<lookup>>> asked;
  for (int i = 0; i < 100; ++i) {
    asked.push_back(std::make_shared<completion_state<lookup>>());
    caf::anon_send(one.shard, verb::get_v, k, lookup_completion(asked.back()));
  }
  scheduler.run();
  for (const auto& state : asked)
    CHECK_FALSE(state->wait()->hit());
  CHECK(ask<memory_shard_stats>(one.shard, verb::stats_v)->loads == 1);
}

TEST_CASE_FIXTURE(fixture, "one request gets the lease and the others its artifact") {
  waiter first(*this, one.shard, k);
  waiter second(*this, one.shard, k);
  waiter third(*this, one.shard, k);
  REQUIRE(first.answered());
  const auto lease = first.take();
  CHECK(lease->lease.take() != 0);
  CHECK_FALSE(lease->waited);
  CHECK_FALSE(second.answered());
  CHECK(*ask<insert_outcome>(one.shard, verb::fulfil_v, lease->lease.take(), value) ==
        insert_outcome::inserted);
  for (auto* other : {&second, &third}) {
    REQUIRE(other->answered());
    const auto reply = other->take();
    CHECK(reply->found.value.payload() == "binary");
    CHECK(reply->waited);
  }
  CHECK(get(one.shard)->hit());
}

TEST_CASE_FIXTURE(fixture,
                  "a failed compile reaches every waiter once and the next compiles again") {
  waiter first(*this, one.shard, k);
  waiter second(*this, one.shard, k);
  const auto lease = first.take();
  caf::anon_send(one.shard, verb::abandon_v, lease->lease.take(),
                 error{errc::compile_failed, "x.cpp:1: error"});
  scheduler.run();
  REQUIRE(second.answered());
  CHECK(second.take().error() == error{errc::compile_failed, "x.cpp:1: error"});
  waiter third(*this, one.shard, k);
  REQUIRE(third.answered());
  CHECK(third.take()->lease.take() != 0);
}

TEST_CASE_FIXTURE(fixture, "a released lease goes to the next waiter at once") {
  waiter first(*this, one.shard, k);
  waiter second(*this, one.shard, k);
  const auto lease = first.take();
  caf::anon_send(one.shard, verb::release_v, lease->lease.take());
  scheduler.run();
  REQUIRE(second.answered());
  const auto next = second.take();
  CHECK(next->lease.take() != 0);
  CHECK(next->lease.take() != lease->lease.take());
  const auto late = ask<insert_outcome>(one.shard, verb::fulfil_v, lease->lease.take(), value);
  CHECK(late.error().code() == errc::lease_lost);
}

TEST_CASE_FIXTURE(fixture, "a waiter that gave up is passed over") {
  waiter first(*this, one.shard, k);
  waiter second(*this, one.shard, k);
  waiter third(*this, one.shard, k);
  second.state->give_up();
  caf::anon_send(one.shard, verb::release_v, first.take()->lease.take());
  scheduler.run();
  REQUIRE(third.answered());
  CHECK(third.take()->lease.take() != 0);
}

TEST_CASE_FIXTURE(fixture,
                  "a lease granted after its actor's request timed out goes to the next waiter") {
  waiter first(*this, one.shard, k);
  bool timed_out = false;
  const auto ask_in_vain = [&](caf::event_based_actor* actor, const cache_key& key) {
    actor->request(one.shard, std::chrono::milliseconds(10), verb::acquire_v, key)
        .then([](const lease_reply&) { FAIL("answered in time"); },
              [&](const caf::error&) { timed_out = true; });
    return caf::behavior{[](verb::clear) {}};
  };
  const auto late = keep(system.spawn(ask_in_vain, k));
  scheduler.run();
  waiter third(*this, one.shard, k);
  scheduler.trigger_timeouts();
  scheduler.run();
  REQUIRE(timed_out);
  caf::anon_send(one.shard, verb::release_v, first.take()->lease.take());
  scheduler.run();
  REQUIRE(third.answered());
  const auto lease = third.take()->lease.take();
  CHECK(lease != 0);
  CHECK(*ask<insert_outcome>(one.shard, verb::fulfil_v, lease, value) == insert_outcome::inserted);
}

TEST_CASE_FIXTURE(fixture, "a lease that is taken stays although its answer is gone") {
  lease_id held = 0;
  const auto hold = [&](caf::event_based_actor* actor, const cache_key& key) {
    actor->request(one.shard, caf::infinite, verb::acquire_v, key)
        .then([&](const lease_reply& reply) { held = reply.lease.take(); });
    return caf::behavior{[](verb::clear) {}};
  };
  keep(system.spawn(hold, k));
  scheduler.run();
  REQUIRE(held != 0);
  waiter second(*this, one.shard, k);
  CHECK_FALSE(second.answered());
  CHECK(*ask<insert_outcome>(one.shard, verb::fulfil_v, held, value) == insert_outcome::inserted);
  CHECK(second.take()->found.value.payload() == "binary");
}

TEST_CASE_FIXTURE(fixture, "an actor that dies with a lease loses it to the next waiter") {
  lease_id held = 0;
  const auto hold = [&](caf::event_based_actor* actor, const cache_key& key) {
    actor->request(one.shard, caf::infinite, verb::acquire_v, key)
        .then([&](const lease_reply& reply) { held = reply.lease.take(); });
    return caf::behavior{[](verb::clear) {}};
  };
  auto holder = system.spawn(hold, k);
  scheduler.run();
  REQUIRE(held != 0);
  waiter second(*this, one.shard, k);
  CHECK_FALSE(second.answered());
  caf::anon_send_exit(holder, caf::exit_reason::kill);
  holder = nullptr;
  scheduler.run();
  REQUIRE(second.answered());
  CHECK(second.take()->lease.take() != 0);
}

TEST_CASE_FIXTURE(fixture, "a lease held by another process is waited for and its artifact found") {
  tiers two(*this, directory.path());
  waiter there(*this, two.shard, k);
  const auto lease = there.take();
  waiter here(*this, one.shard, k);
  CHECK_FALSE(here.answered());
  CHECK(ask<insert_outcome>(two.shard, verb::fulfil_v, lease->lease.take(), value));
  REQUIRE(run_until([&] { return here.answered(); })); // at a poll
  const auto reply = here.take();
  CHECK(reply->found.value.payload() == "binary");
  CHECK(reply->found.from == tier::disk);
  CHECK(reply->waited);
}

TEST_CASE_FIXTURE(fixture, "a lease that another process drops without an artifact is taken over") {
  tiers two(*this, directory.path());
  waiter there(*this, two.shard, k);
  waiter here(*this, one.shard, k);
  CHECK_FALSE(here.answered());
  caf::anon_send(two.shard, verb::release_v, there.take()->lease.take());
  run_until_idle();
  REQUIRE(here.answered());
  CHECK(here.take()->lease.take() != 0);
}

TEST_CASE_FIXTURE(fixture, "a lock excludes by key and does not look for the entry") {
  CHECK(*insert(one.shard, value) == insert_outcome::inserted);
  const auto lease = ask<lease_reply>(one.shard, verb::lock_v, k);
  REQUIRE(lease);
  CHECK(lease->lease.take() != 0);
  CHECK_FALSE(lease->found.hit());
  lease_id next = 0;
  const auto ask_next = [&](caf::event_based_actor* actor, const cache_key& key) {
    actor->request(one.shard, caf::infinite, verb::lock_v, key).then([&](const lease_reply& reply) {
      next = reply.lease.take();
    });
    return caf::behavior{[](verb::clear) {}};
  };
  const auto second = system.spawn(ask_next, k);
  scheduler.run();
  CHECK(next == 0);
  // The lock of another key is free.
  CHECK(ask<lease_reply>(one.shard, verb::lock_v, key_in("fxgraph", "other"))->lease.take() != 0);
  caf::anon_send(one.shard, verb::release_v, lease->lease.take());
  scheduler.run();
  CHECK(next != 0);
  CHECK(next != lease->lease.take());
}

TEST_CASE_FIXTURE(fixture, "answers that cannot come any more are closed errors") {
  waiter first(*this, one.shard, k);
  waiter second(*this, one.shard, k);
  caf::anon_send_exit(one.shard, caf::exit_reason::user_shutdown);
  scheduler.run();
  CHECK(second.take().error().code() == errc::closed);
  waiter late(*this, one.shard, k);
  CHECK(late.take().error().code() == errc::closed);
}

TEST_CASE_FIXTURE(deterministic, "memory alone gets inserts puts and erases") {
  const auto shard = memory_only(*this);
  const auto k = key_in("plain", key::integer(7));
  CHECK(*ask<insert_outcome>(shard, verb::insert_v, k, artifact::make("a")) ==
        insert_outcome::inserted);
  CHECK(*ask<insert_outcome>(shard, verb::insert_v, k, artifact::make("b")) ==
        insert_outcome::exists);
  CHECK(ask<done>(shard, verb::put_v, k, artifact::make("c")));
  CHECK(ask<lookup>(shard, verb::get_v, k)->value.payload() == "c");
  CHECK(*ask<bool>(shard, verb::erase_v, k));
  CHECK_FALSE(*ask<bool>(shard, verb::erase_v, k));
  CHECK_FALSE(ask<lookup>(shard, verb::get_v, k)->hit());
}

TEST_CASE_FIXTURE(fixture, "a hundred requests for a missing key cause one load of each tier") {
  std::size_t remote_gets = 0;
  const auto remote = keep(system.spawn(
      [](remote_tier_actor::pointer, std::size_t* gets) -> remote_tier_actor::behavior_type {
        return {[gets](verb::get, const key_list& keys) {
                  *gets += keys.size();
                  return lookup_list(keys.size());
                },
                [](verb::insert, const cache_key&, const artifact&, std::uint64_t) {},
                [](verb::promote, const cache_key&, const artifact&, std::uint64_t) {},
                [](verb::put, const cache_key&, const artifact&, std::uint64_t) {},
                [](verb::erase, const cache_key&, std::uint64_t) {},
                [](verb::find_set, const cache_key&) { return fleet_members{}; },
                [](verb::merge, const cache_key&, const set_change&) {},
                [](verb::lock, const cache_key&) { return fleet_lease::unavailable; },
                [](verb::release, const cache_key&) {},
                [](verb::begin) {},
                [](verb::hear) { return done{}; },
                [](verb::take_reply) {},
                [](verb::listen) {},
                [](verb::purge, const cache_key&) {},
                [](verb::tell) {},
                [](verb::ping) {},
                [](verb::renew) {},
                [](verb::resend) {},
                [](verb::clear) {},
                [](verb::drain) { return done{}; },
                [](verb::stats) { return remote_tier_stats{}; }};
      },
      &remote_gets));
  actors::memory_shard_config parts;
  parts.view = one.view;
  parts.all_views = {one.view};
  parts.store = one.store;
  parts.disk_shards = one.actors.disk_shards;
  parts.remote = remote;
  parts.log = log_to(one.log);
  const auto shard = keep(system.spawn(actors::memory_shard, parts));
  const auto disk_gets = one.store->stats().misses;
  std::vector<std::shared_ptr<completion_state<lookup>>> asked;
  for (int i = 0; i < 100; ++i) {
    asked.push_back(std::make_shared<completion_state<lookup>>());
    caf::anon_send(shard, verb::get_v, k, lookup_completion(asked.back()));
  }
  scheduler.run();
  for (const auto& state : asked)
    CHECK_FALSE(state->wait()->hit());
  const auto counts = ask<memory_shard_stats>(shard, verb::stats_v);
  CHECK(counts->loads == 1);
  CHECK(counts->coalesced == 99);
  CHECK(one.store->stats().misses == disk_gets + 1);
  CHECK(remote_gets == 1);
}

TEST_CASE_FIXTURE(
    fixture, "the items of a batch are answered together from whichever tiers they are found in") {
  CHECK(*insert(one.shard, value) == insert_outcome::inserted);
  const auto gone = key_in("fxgraph", "gone");
  auto state = std::make_shared<completion_state<lookup_list>>();
  const auto batch = std::make_shared<get_batch>(k.cache, lookup_list(3));
  batch->add(2, k.bytes, k.memory_hash);
  batch->add(0, gone.bytes, gone.memory_hash);
  batch->deliver_to(batch_completion(state));
  caf::anon_send(one.shard, verb::get_v, batch, std::uint64_t{0}, std::uint64_t{1});
  scheduler.run();
  CHECK_FALSE(state->ready()); // the second item is still open
  caf::anon_send(one.shard, verb::get_v, batch, std::uint64_t{1}, std::uint64_t{2});
  scheduler.run();
  REQUIRE(state->ready());
  const auto answers = state->wait();
  CHECK(answers->at(2)->value.payload() == "binary");
  CHECK_FALSE(answers->at(0)->hit());
}

TEST_CASE_FIXTURE(fixture, "an idle shard frees artifacts that readers have released") {
  CHECK(*insert(one.shard, value) == insert_outcome::inserted);
  auto held = get(one.shard)->value;
  const auto before = one.view->index().stats().bytes_used;
  held = one.view->index().get({k.cache->number, k.bytes, k.memory_hash});
  CHECK(*ask<bool>(one.shard, verb::erase_v, k));
  held.reset();
  CHECK(one.view->index().has_leftovers());
  run_until_idle(); // the reclaim is due
  CHECK_FALSE(one.view->index().has_leftovers());
  CHECK(one.view->index().stats().bytes_used < before);
}

TEST_CASE_FIXTURE(fixture, "a shard does not poll for ever for artifacts that a reader keeps") {
  CHECK(*insert(one.shard, value) == insert_outcome::inserted);
  const auto held = one.view->index().get({k.cache->number, k.bytes, k.memory_hash});
  CHECK(*ask<bool>(one.shard, verb::erase_v, k));
  run_until_idle(); // returns: the polling ends
  CHECK(one.view->index().has_leftovers());
}

TEST_CASE_FIXTURE(fixture, "waiters that gave up are removed from the waiters of a lease") {
  waiter first(*this, one.shard, k);
  std::vector<std::unique_ptr<waiter>> others;
  for (int i = 0; i < 100; ++i) {
    others.push_back(std::make_unique<waiter>(*this, one.shard, k));
    others.back()->state->give_up();
  }
  CHECK(ask<memory_shard_stats>(one.shard, verb::stats_v)->leases_waiting <= 9);
  caf::anon_send(one.shard, verb::withdraw_v, k);
  CHECK(ask<memory_shard_stats>(one.shard, verb::stats_v)->leases_waiting == 0);
}

} // namespace memory_shard_test
