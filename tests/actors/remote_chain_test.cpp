// Several remote tiers one behind the other. The tiers are fakes that note what they are told and
// answer from a map.
#include "actors/remote_chain.hpp"

#include "tests/support/tiers.hpp"

#include <algorithm>
#include <caf/event_based_actor.hpp>
#include <map>

namespace remote_chain_test {

using namespace hearth;
using namespace hearth::test;
using namespace std::chrono_literals;

namespace {

using lines = std::vector<std::string>;

// What a fake tier has, does and was told.
struct fake_tier {
  std::map<std::string, artifact> entries; // by the key's bytes
  member_set members;
  bool is_well = true;
  fleet_lease lease = fleet_lease::ours;
  std::vector<std::uint64_t> changes; // the numbers of puts and erases
  lines told;
  std::function<void()> during_get; // called before a look-up is answered
  bool drains = true;
  remote_tier_stats stats;

  std::size_t count(const std::string& line) const {
    return static_cast<std::size_t>(std::count(told.begin(), told.end(), line));
  }
};

lookup_list answers_of(fake_tier& tier, const key_list& keys) {
  tier.told.push_back("get " + std::to_string(keys.size()));
  if (tier.during_get) tier.during_get();
  lookup_list found;
  for (const auto& key : keys) {
    const auto at = tier.entries.find(std::string(std::string_view(key.bytes)));
    if (!tier.is_well)
      found.emplace_back(lookup::unanswered());
    else
      found.emplace_back(at == tier.entries.end() ? lookup() : lookup{tier::remote, at->second});
  }
  return found;
}

remote_tier_actor::behavior_type behave(remote_tier_actor::pointer self, fake_tier* one) {
  const auto note = [one](const char* what) { one->told.emplace_back(what); };
  return {
      [one](verb::get, const key_list& keys) { return answers_of(*one, keys); },
      [note](verb::insert, const cache_key&, const artifact& value, std::uint64_t) {
        note(("insert " + std::string(value.payload())).c_str());
      },
      [note](verb::promote, const cache_key&, const artifact& value, std::uint64_t) {
        note(("promote " + std::string(value.payload())).c_str());
      },
      [one, note](verb::put, const cache_key&, const artifact&, std::uint64_t change) {
        note("put");
        one->changes.push_back(change);
      },
      [one, note](verb::erase, const cache_key&, std::uint64_t change) {
        note("erase");
        one->changes.push_back(change);
      },
      [one](verb::find_set, const cache_key&) {
        one->told.emplace_back("find_set");
        if (one->during_get) one->during_get();
        return one->is_well ? fleet_members{true, one->members} : fleet_members{};
      },
      [one](verb::merge, const cache_key&, const set_change& change) {
        one->told.emplace_back("merge");
        one->members.merge(change.joined);
        one->members.remove(change.removed);
      },
      [one, note](verb::lock, const cache_key&) {
        note("lock");
        return one->lease;
      },
      [note](verb::release, const cache_key&) { note("release"); },
      [note](verb::begin) { note("begin"); },
      [note](verb::hear) {
        note("hear");
        return done{};
      },
      [](verb::take_reply) {},
      [](verb::listen) {},
      [](verb::purge, const cache_key&) {},
      [](verb::tell) {},
      [](verb::ping) {},
      [](verb::renew) {},
      [](verb::resend) {},
      [](verb::clear) {},
      [self, one, note](verb::drain) -> caf::result<done> {
        note("drain");
        if (!one->drains) return self->make_response_promise<done>(); // never answered
        return done{};
      },
      [one](verb::stats) { return one->stats; },
  };
}

struct fixture : deterministic {
  fake_tier near, far;
  std::shared_ptr<storage::change_journal> near_journal =
      std::make_shared<storage::change_journal>();
  std::shared_ptr<storage::change_journal> far_journal =
      std::make_shared<storage::change_journal>();
  const cache_key k = key_in("fxgraph", "k");
  const std::string k_bytes{std::string_view(k.bytes)};
  const artifact value = artifact::make("value");

  actors::remote_chain_config both_tiers() {
    actors::remote_chain_config chain;
    chain.tiers.push_back({keep(system.spawn(behave, &near)),
                           "log-of-near",
                           remote_mode::read_write,
                           {},
                           near_journal});
    chain.tiers.push_back(
        {keep(system.spawn(behave, &far)), "log-of-far", remote_mode::read_write, {}, far_journal});
    return chain;
  }
  remote_chain_actor start(actors::remote_chain_config chain) {
    return keep(system.spawn(actors::remote_chain, std::move(chain)));
  }
  remote_chain_actor start() { return start(both_tiers()); }
  template <class... Parts>
  void tell(const remote_chain_actor& chain, const Parts&... parts) {
    caf::anon_send(chain, parts...);
    scheduler.run();
  }
  lookup_list get(const remote_chain_actor& chain, const key_list& keys) {
    return *ask<lookup_list>(chain, verb::get_v, keys);
  }
  lookup get(const remote_chain_actor& chain) { return *get(chain, key_list{k}).front(); }
};

set_member member(const std::string& id) { return {id, "of " + id, 1}; }

} // namespace

TEST_CASE_FIXTURE(fixture, "remote chain: a hit of the nearest asks no farther tier") {
  near.entries[k_bytes] = value;
  const auto chain = start();
  CHECK(get(chain).value.payload() == "value");
  CHECK(far.told.empty());
  CHECK(near.told == lines{"get 1"});
}

TEST_CASE_FIXTURE(fixture, "remote chain: a hit of a farther tier is written to the nearer one") {
  far.entries[k_bytes] = value;
  const auto chain = start();
  CHECK(get(chain).from == tier::remote);
  scheduler.run();
  CHECK(near.told == lines{"get 1", "promote value"});
  CHECK(far.told == lines{"get 1"});
}

TEST_CASE_FIXTURE(fixture,
                  "remote chain: a nearer tier that fails is passed over, and filled later") {
  near.is_well = false;
  far.entries[k_bytes] = value;
  const auto chain = start();
  CHECK(get(chain).hit());
  scheduler.run();
  CHECK(near.count("promote value") == 1);
}

TEST_CASE_FIXTURE(fixture, "remote chain: a miss is unanswered if one tier could not be read") {
  const auto chain = start();
  CHECK_FALSE(get(chain).is_unanswered);
  far.is_well = false;
  CHECK(get(chain).is_unanswered);
  far.is_well = true;
  near.is_well = false;
  CHECK(get(chain).is_unanswered);
}

TEST_CASE_FIXTURE(fixture, "remote chain: only what the nearer tier lacks is asked for behind it") {
  const auto other = key_in("fxgraph", "other");
  const auto none = key_in("fxgraph", "none");
  near.entries[k_bytes] = value;
  far.entries[std::string(std::string_view(other.bytes))] = artifact::make("of far");
  const auto chain = start();
  const auto found = get(chain, {k, other, none});
  CHECK(found[0]->value.payload() == "value");
  CHECK(found[1]->value.payload() == "of far");
  CHECK_FALSE(found[2]->hit());
  CHECK(near.told.front() == "get 3");
  CHECK(far.told == lines{"get 2"});
}

TEST_CASE_FIXTURE(fixture, "remote chain: modes and caches are each tier's own") {
  auto setup = both_tiers();
  far.entries[k_bytes] = value;
  SUBCASE("a read-only tier is not filled and gives no lease") {
    setup.tiers[0].mode = remote_mode::read_only;
    const auto chain = start(std::move(setup));
    CHECK(get(chain).hit());
    far.lease = fleet_lease::unavailable;
    CHECK(*ask<fleet_lease>(chain, verb::lock_v, k) == fleet_lease::unavailable);
    CHECK(near.told == lines{"get 1"});
  }
  SUBCASE("a write-only tier is not asked") {
    setup.tiers[1].mode = remote_mode::write_only;
    const auto chain = start(std::move(setup));
    CHECK_FALSE(get(chain).hit());
    CHECK(far.told.empty());
  }
  SUBCASE("a tier that does not take the cache hears nothing of it") {
    setup.tiers[0].takes = [](const cache_id& id) { return id.name() == "autotune"; };
    const auto chain = start(std::move(setup));
    CHECK(get(chain).hit());
    tell(chain, verb::put_v, k, value, std::uint64_t{0});
    tell(chain, verb::insert_v, k, value, std::uint64_t{0});
    tell(chain, verb::erase_v, k, std::uint64_t{0});
    tell(chain, verb::merge_v, k, set_change());
    CHECK(ask<fleet_members>(chain, verb::find_set_v, k)->is_answered);
    CHECK(*ask<fleet_lease>(chain, verb::lock_v, k) == fleet_lease::ours);
    tell(chain, verb::release_v, k);
    CHECK(near.told.empty());
    CHECK(far.told ==
          lines{"get 1", "put", "insert value", "erase", "merge", "find_set", "lock", "release"});
  }
  SUBCASE("a cache that no tier may be asked for is unanswered") {
    for (auto& one : setup.tiers)
      one.mode = remote_mode::write_only;
    const auto chain = start(std::move(setup));
    CHECK(get(chain).is_unanswered);
    CHECK_FALSE(ask<fleet_members>(chain, verb::find_set_v, k)->is_answered);
  }
}

TEST_CASE_FIXTURE(fixture,
                  "remote chain: a value found before its entry was changed fills nothing") {
  far.entries[k_bytes] = value;
  const auto chain = start();
  SUBCASE("by this host") {
    far.during_get = [&] { caf::anon_send(chain, verb::erase_v, k, std::uint64_t{0}); };
  }
  SUBCASE("by another host") {
    far.during_get = [&] {
      caf::anon_send(chain, verb::purge_v, k, std::uint64_t{1}, std::string("log-of-near"));
    };
  }
  CHECK(get(chain).hit());
  scheduler.run();
  CHECK(near.count("promote value") == 0);
  far.during_get = nullptr; // the next look-up begins after it
  CHECK(get(chain).hit());
  scheduler.run();
  CHECK(near.count("promote value") == 1);
}

TEST_CASE_FIXTURE(fixture, "remote chain: each tier hears of a change by a number of its journal") {
  near_journal->note_also_in({{far_journal, {}}}, {});
  const auto noted = near_journal->note(k, storage::unheard_change::kind::put, 7);
  const auto chain = start();
  tell(chain, verb::put_v, k, value, noted.which);
  CHECK(near.changes == std::vector{noted.which});
  CHECK(far.changes == std::vector{noted.which});
  CHECK(near_journal->find(noted.which) == storage::unheard_change::kind::put);
  CHECK(far_journal->find(noted.which) == storage::unheard_change::kind::put);
  near_journal->settle(noted.which); // the near server has heard
  CHECK_FALSE(near_journal->find(noted.which));
  CHECK(far_journal->find(noted.which));
}

TEST_CASE_FIXTURE(
    fixture, "remote chain: a purge goes on to the nearer tiers, unless its writer tells them") {
  const auto chain = start();
  tell(chain, verb::purge_v, k, std::uint64_t{1}, std::string("log-of-near log-of-far"));
  CHECK(near.told.empty());
  tell(chain, verb::purge_v, k, std::uint64_t{1}, std::string("log-of-another"));
  CHECK(near.told == lines{"erase"});
  REQUIRE(near.changes.size() == 1);
  CHECK(near_journal->find(near.changes.front()) == storage::unheard_change::kind::erase);
  tell(chain, verb::purge_v, k, std::uint64_t{0}, std::string());
  CHECK(near.told == lines{"erase"});
  CHECK(far.told.empty()); // a farther tier is never told
}

TEST_CASE_FIXTURE(fixture, "remote chain: sets are joined, and each tier gets what it lacks") {
  near.members.add(member("a"));
  far.members.add(member("b"));
  const auto chain = start();
  const auto found = ask<fleet_members>(chain, verb::find_set_v, k);
  scheduler.run();
  CHECK(found->is_answered);
  CHECK(found->members.size() == 2);
  CHECK(near.members == found->members);
  CHECK(far.members == found->members);
  CHECK(ask<fleet_members>(chain, verb::find_set_v, k)->members.size() == 2);
  scheduler.run();
  CHECK(near.count("merge") == 1); // nothing was missing the second time
}

TEST_CASE_FIXTURE(fixture, "remote chain: a tier that does not answer leaves a set incomplete") {
  near.members.add(member("a"));
  far.is_well = false;
  const auto chain = start();
  const auto found = ask<fleet_members>(chain, verb::find_set_v, k);
  CHECK_FALSE(found->is_answered);
  CHECK(found->members.size() == 1);
  scheduler.run();
  CHECK(far.count("merge") == 0);
}

TEST_CASE_FIXTURE(fixture, "remote chain: a set that was changed meanwhile is given to no tier") {
  near.members.add(member("a"));
  const auto chain = start();
  far.during_get = [&] { caf::anon_send(chain, verb::erase_v, k, std::uint64_t{0}); };
  CHECK(ask<fleet_members>(chain, verb::find_set_v, k)->members.size() == 1);
  scheduler.run();
  CHECK(far.count("merge") == 0);
}

TEST_CASE_FIXTURE(fixture, "remote chain: the farthest tier decides a lease, and gets it back") {
  const auto chain = start();
  CHECK(*ask<fleet_lease>(chain, verb::lock_v, k) == fleet_lease::ours);
  tell(chain, verb::release_v, k);
  CHECK(far.told == lines{"lock", "release"});
  far.lease = fleet_lease::elsewhere;
  CHECK(*ask<fleet_lease>(chain, verb::lock_v, k) == fleet_lease::elsewhere);
  tell(chain, verb::release_v, k);
  CHECK(far.count("release") == 1);
  CHECK(near.told.empty());
}

TEST_CASE_FIXTURE(fixture, "remote chain: while the farthest tier is ill, the next one decides") {
  far.lease = fleet_lease::unavailable;
  const auto chain = start();
  CHECK(*ask<fleet_lease>(chain, verb::lock_v, k) == fleet_lease::ours);
  far.lease = fleet_lease::ours; // it is well again, but did not grant this lease
  tell(chain, verb::release_v, k);
  CHECK(near.told == lines{"lock", "release"});
  CHECK(far.told == lines{"lock"});
}

TEST_CASE_FIXTURE(fixture, "remote chain: begin, hear and drain reach every tier") {
  auto setup = both_tiers();
  setup.tiers[1].drain_deadline = 50ms;
  far.drains = false;
  const auto chain = start(std::move(setup));
  tell(chain, verb::begin_v);
  CHECK(ask<done>(chain, verb::hear_v));
  auto drained = self->request(chain, caf::infinite, verb::drain_v);
  run_until_idle();
  bool is_drained = false;
  drained.receive([&](const done&) { is_drained = true; }, [](const caf::error&) {});
  CHECK(is_drained); // after the deadline of the tier that does not answer
  CHECK(near.told == lines{"begin", "hear", "drain"});
  CHECK(far.told == lines{"begin", "hear", "drain"});
}

TEST_CASE_FIXTURE(fixture, "remote chain: counters are sums, the state that of the worst tier") {
  near.stats.name = "redis://near:6379";
  near.stats.state = near.stats.writes = "closed";
  near.stats.caches = {{.cache = "c", .version = "0", .hits = 2, .failures = {{"timeout", 1}}}};
  far.stats.name = "redis://far:6379";
  far.stats.state = "half_open";
  far.stats.writes = "closed";
  far.stats.problem = "no answer";
  far.stats.openings = 3;
  far.stats.caches = {{.cache = "c", .version = "0", .hits = 5, .failures = {{"timeout", 2}}},
                      {.cache = "d", .version = "0", .puts = 1, .failures = {}}};
  const auto all = ask<remote_tier_stats>(start(), verb::stats_v);
  CHECK(all->name == "redis://near:6379 redis://far:6379");
  CHECK(all->state == "half_open");
  CHECK(all->writes == "closed");
  CHECK(all->problem == "no answer");
  CHECK(all->openings == 3);
  REQUIRE(all->caches.size() == 2);
  CHECK(all->caches[0].hits == 7);
  CHECK(all->caches[0].failures.at("timeout") == 3);
  CHECK(all->caches[1].puts == 1);
  REQUIRE(all->each.size() == 2);
  CHECK(all->each[0].state == "closed");
  CHECK(all->tiers().size() == 2);
  CHECK(near.stats.tiers().front().name == near.stats.name);
}

} // namespace remote_chain_test
