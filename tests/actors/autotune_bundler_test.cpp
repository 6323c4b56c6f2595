#include "actors/autotune_bundler.hpp"

#include "tests/support/tuning_process.hpp"

namespace autotune_bundler_test {

using namespace hearth;
using namespace hearth::test;

namespace {

autotune_record record(std::int64_t tile, std::int64_t took_ns = 1000) {
  autotune_record made;
  made.config.arguments = {{"TILE", tile}};
  made.configs_hash = "h";
  made.time_taken_ns = took_ns;
  return made;
}

// One machine: its tiers, its bundler, and its autotune cache.
struct machine {
  machine(deterministic& in, const std::filesystem::path& directory)
      : local(in, directory) {
    const auto services = services_over(in, local, fake_ports().ports());
    bundler = services.bundler;
    tunings = services.autotune;
  }
  tiers local;
  autotune_bundler_actor bundler;
  autotune_cache_actor tunings;
};

struct fixture : deterministic {
  temporary_directory directory;
  machine here{*this, directory.path()};
  const cache_key plan = key_in("bundles", "plan");
  const named_cache_ptr tuned = key_in("autotune", "").cache;

  bundle_session begin(const machine& on) { return begin(on, plan); }
  bundle_session begin(const machine& on, const cache_key& key) {
    return ask<bundle_session>(on.bundler, verb::begin_v, key, tuned).value();
  }
  expected<bundle_end> finish(const machine& on, std::uint64_t session) {
    return ask<bundle_end>(on.bundler, verb::finish_v, session);
  }
  autotune_address address(const std::string& name) const {
    return {cache_key(tuned, key(name).encoded()), {}, name};
  }
  void save(const machine& on, const std::string& name, const autotune_record& tuning,
            std::uint64_t session) {
    REQUIRE(ask<done>(on.tunings, verb::save_v, address(name), tuning, tuning_notes{session, 0}));
  }
  expected<autotune_found> best(const machine& on, const std::string& name,
                                std::uint64_t session = 0) {
    const autotune_choices among{{record(1).config, record(2).config}, "h", false};
    return ask<autotune_found>(on.tunings, verb::best_v, address(name), among,
                               tuning_notes{session, 0});
  }
  static cache_key set_of(const cache_key& bundle) {
    return derived_key(bundle, key("tuning set"));
  }
  actors::tuning_bundle bundle(const machine& on, const cache_key& key) {
    const auto found = ask<lookup>(on.local.shard, verb::find_set_v, set_of(key)).value();
    return actors::bundle_of(decode_members(found.value.payload()).value_or(member_set{}));
  }
  // Copies a bundle to another machine, in place of the remote tier.
  void carry(const machine& from, const machine& to) {
    const auto found = ask<lookup>(from.local.shard, verb::find_set_v, set_of(plan)).value();
    set_change change;
    change.joined = decode_members(found.value.payload()).value();
    REQUIRE(ask<set_reply>(to.local.shard, verb::merge_v, set_of(plan), change));
  }
};

} // namespace

TEST_CASE_FIXTURE(fixture, "a session that missed stores the saved entries and the local hits") {
  save(here, "old", record(1), 0);
  const auto session = begin(here);
  CHECK_FALSE(session.hit);
  save(here, "new", record(2), session.id);
  REQUIRE(best(here, "old", session.id));
  const auto end = finish(here, session.id);
  CHECK(end->stored);
  CHECK(end->entries == 2);
  CHECK(bundle(here, plan) == actors::tuning_bundle{{"new", record(2)}, {"old", record(1)}});
}

TEST_CASE_FIXTURE(fixture, "a bundled entry equals the stored one after it was matched") {
  const auto session = begin(here);
  save(here, "k", record(1), session.id);
  REQUIRE(best(here, "k", session.id));
  finish(here, session.id);
  const auto stored = ask<lookup>(here.local.shard, verb::get_v, address("k").local)->value;
  CHECK(decode_record(stored.payload()).value() == bundle(here, plan).at("k"));
  CHECK(bundle(here, plan).at("k").configs_hash == "h");
}

TEST_CASE_FIXTURE(fixture, "a new machine has every tuning from one bundle, and the time saved") {
  const auto session = begin(here);
  save(here, "a", record(1, 30), session.id);
  save(here, "b", record(2, 12), session.id);
  finish(here, session.id);
  temporary_directory elsewhere;
  machine other(*this, elsewhere.path());
  carry(here, other);
  const auto there = begin(other);
  CHECK(there.hit);
  CHECK(there.entries == 2);
  CHECK(there.time_saved_ns == 42);
  CHECK(best(other, "a")->best.candidate == 0);
  CHECK(best(other, "b")->best.candidate == 1);
  const auto end = finish(other, there.id);
  CHECK_FALSE(end->stored);
  CHECK(end->entries == 2);
}

TEST_CASE_FIXTURE(fixture, "tunings new in a session that hit are stored as the union") {
  const auto first = begin(here);
  save(here, "a", record(1), first.id);
  finish(here, first.id);
  const auto second = begin(here);
  CHECK(second.hit);
  save(here, "b", record(2), second.id);
  CHECK(finish(here, second.id)->stored);
  CHECK(bundle(here, plan) == actors::tuning_bundle{{"a", record(1)}, {"b", record(2)}});
  const auto third = begin(here);
  save(here, "a", record(2), third.id); // tuned anew
  CHECK(finish(here, third.id)->stored);
  CHECK(bundle(here, plan).at("a") == record(2));
}

TEST_CASE_FIXTURE(fixture, "sessions interleave, each with its own tunings") {
  const auto other = key_in("bundles", "other");
  const auto one = begin(here);
  const auto two = begin(here, other);
  CHECK(one.id != two.id);
  save(here, "a", record(1), one.id);
  save(here, "b", record(2), two.id);
  save(here, "c", record(1), one.id);
  finish(here, two.id);
  save(here, "d", record(2), one.id);
  finish(here, one.id);
  CHECK(bundle(here, other) == actors::tuning_bundle{{"b", record(2)}});
  CHECK(bundle(here, plan).size() == 3);
}

TEST_CASE_FIXTURE(fixture, "tunings that two sessions of one plan found at once are all kept") {
  const auto one = begin(here);
  const auto two = begin(here);
  save(here, "a", record(1), one.id);
  save(here, "b", record(2), two.id);
  finish(here, one.id);
  CHECK(finish(here, two.id)->entries == 2);
  CHECK(bundle(here, plan).size() == 2);
}

TEST_CASE_FIXTURE(fixture, "an abandoned session stores nothing") {
  const auto session = begin(here);
  save(here, "a", record(1), session.id);
  self->send(here.bundler, verb::abandon_v, session.id);
  run_until_idle();
  CHECK(finish(here, session.id).error().code() == errc::not_found);
  CHECK(bundle(here, plan).empty());
  CHECK(best(here, "a")); // its tunings are known all the same
}

TEST_CASE_FIXTURE(fixture, "a session ends once") {
  const auto session = begin(here);
  save(here, "a", record(1), session.id);
  CHECK(finish(here, session.id)->stored);
  CHECK(finish(here, session.id).error().code() == errc::not_found);
  CHECK(finish(here, 12345).error().code() == errc::not_found);
  save(here, "late", record(2), session.id);
  CHECK(bundle(here, plan).size() == 1);
}

TEST_CASE_FIXTURE(fixture, "a session without tunings stores nothing") {
  CHECK_FALSE(finish(here, begin(here).id)->stored);
  CHECK(bundle(here, plan).empty());
}

TEST_CASE_FIXTURE(fixture, "a bundle of the earlier form, one entry, is read") {
  const value entry(value::map{{"a", to_fields(record(1))}, {"b", to_fields(record(2))}});
  ask<done>(here.local.shard, verb::put_v, plan, artifact::make(encode(entry)));
  const auto session = begin(here);
  CHECK(session.entries == 2);
  save(here, "b", record(1), session.id);
  CHECK(finish(here, session.id)->entries == 2);
  // Another host of the earlier form replaces its entry: the set keeps what it has.
  ask<done>(here.local.shard, verb::put_v, plan, artifact::make("theirs"));
  CHECK(bundle(here, plan) == actors::tuning_bundle{{"a", record(1)}, {"b", record(1)}});
}

TEST_CASE_FIXTURE(fixture, "a bundle that cannot be read is a miss and is replaced") {
  ask<done>(here.local.shard, verb::put_v, set_of(plan), artifact::make("no msgpack"));
  const auto session = begin(here);
  CHECK_FALSE(session.hit);
  save(here, "a", record(1), session.id);
  CHECK(finish(here, session.id)->stored);
  CHECK(bundle(here, plan).size() == 1);
}

TEST_CASE_FIXTURE(fixture, "a tuning that cannot be read hides no other one") {
  member_set members;
  members.add({"a", encode(value(to_fields(record(1)))), 1});
  members.add({"broken", encode(value(17)), 2});
  CHECK(actors::bundle_of(members) == actors::tuning_bundle{{"a", record(1)}});
}

TEST_CASE_FIXTURE(fixture, "the number of open sessions is bounded") {
  for (std::size_t i = 0; i < actors::autotune_bundler_state::max_sessions; ++i)
    begin(here);
  const auto refused = ask<bundle_session>(here.bundler, verb::begin_v, plan, tuned);
  CHECK(refused.error().code() == errc::overloaded);
}

} // namespace autotune_bundler_test
