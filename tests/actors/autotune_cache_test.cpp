#include "actors/autotune_cache.hpp"

#include "actors/autotune_bundler.hpp"
#include "tests/support/tiers.hpp"

#include <caf/event_based_actor.hpp>

namespace autotune_cache_test {

using namespace hearth;
using namespace hearth::test;

namespace {

kernel_config tiled(std::int64_t tile) { return {.arguments = {{"TILE", tile}}}; }

autotune_record record(std::int64_t tile, const std::string& hash) {
  autotune_record made;
  made.config = tiled(tile);
  made.configs_hash = hash;
  made.time_taken_ns = 2'345'678;
  return made;
}

autotune_choices choices(const std::string& hash) { return {{tiled(16), tiled(32)}, hash, false}; }

using noted = std::vector<std::pair<std::uint64_t, std::string>>;

// Records the notes that it gets; the tests here do not look at the bundler or the recorder.
autotune_bundler_actor::behavior_type note_bundled(autotune_bundler_actor::pointer, noted* notes) {
  return {
      [](verb::begin, const cache_key&, const named_cache_ptr&) { return bundle_session{}; },
      [notes](verb::record, std::uint64_t session, const std::string& name,
              const autotune_record& tuning) {
        notes->emplace_back(session, name + " " + encode_record(tuning));
      },
      [](verb::finish, std::uint64_t) { return bundle_end{}; },
      [](verb::abandon, std::uint64_t) {},
  };
}

artifact_recorder_actor::behavior_type note_recorded(artifact_recorder_actor::pointer,
                                                     noted* notes) {
  return {
      [](verb::begin, std::uint64_t, std::uint64_t) { return std::uint64_t{1}; },
      [notes](verb::save, std::uint64_t session, const std::string& type, const cache_key& key,
              const artifact& value) {
        notes->emplace_back(session,
                            type + " " + key.cache->id.name() + " " + std::string(value.payload()));
      },
      [](verb::count, std::uint64_t) { return std::uint64_t{0}; },
      [](verb::finish, std::uint64_t) { return recording{}; },
  };
}

struct fixture : deterministic {
  temporary_directory directory;
  tiers one{*this, directory.path()};
  noted bundled, recorded;
  autotune_cache_actor tunings = keep(system.spawn(
      actors::autotune_cache,
      actors::autotune_cache_config{one.router, keep(system.spawn(note_bundled, &bundled)),
                                    keep(system.spawn(note_recorded, &recorded))}));
  const cache_key local = key_in("autotune", "matmul.best_config");
  const cache_key remote = key_in("fleet", "matmul");
  const autotune_address both{local, remote, "matmul.best_config"};
  const autotune_address only_local{local, {}, "matmul.best_config"};
  const autotune_address only_remote{{}, remote, "matmul.best_config"};

  expected<autotune_found> best(const autotune_address& where, const std::string& hash,
                                tuning_notes notes = {}) {
    return ask<autotune_found>(tunings, verb::best_v, where, choices(hash), notes);
  }
  expected<done> save(const autotune_address& where, const autotune_record& tuning,
                      tuning_notes notes = {}) {
    return ask<done>(tunings, verb::save_v, where, tuning, notes);
  }
  std::string stored(const cache_key& key) {
    return std::string(ask<lookup>(one.shard, verb::get_v, key)->value.payload());
  }
};

} // namespace

TEST_CASE_FIXTURE(fixture, "the best is found for the candidates that it was chosen from") {
  CHECK(best(both, "h").error().code() == errc::not_found);
  REQUIRE(save(both, record(32, "h")));
  const auto found = best(both, "h");
  REQUIRE(found);
  CHECK(found->best.candidate == 1);
  CHECK(found->best.config == tiled(32));
  CHECK(found->record == record(32, "h"));
  CHECK(best(both, "other").error().code() == errc::not_found);
}

TEST_CASE_FIXTURE(fixture, "the nearest tier that knows the best answers") {
  REQUIRE(save(only_remote, record(16, "h")));
  CHECK(best(both, "h")->best.candidate == 0);
  REQUIRE(save(only_local, record(32, "h")));
  CHECK(best(both, "h")->best.candidate == 1);
}

TEST_CASE_FIXTURE(fixture, "a local entry of other candidates hides no matching remote entry") {
  REQUIRE(save(only_local, record(16, "old")));
  REQUIRE(save(only_remote, record(32, "new")));
  const auto found = best(both, "new");
  REQUIRE(found);
  CHECK(found->best.candidate == 1);
  // The local tier knows it from now on.
  CHECK(best(only_local, "new")->best.candidate == 1);
}

TEST_CASE_FIXTURE(fixture,
                  "a local entry that fits no candidate or cannot be read hides no remote entry") {
  REQUIRE(save(only_remote, record(32, "h")));
  REQUIRE(save(only_local, record(999, "h")));
  CHECK(best(both, "h")->best.candidate == 1);
  ask<done>(one.shard, verb::put_v, local, artifact::make("no msgpack"));
  CHECK(best(both, "h")->best.candidate == 1);
}

TEST_CASE_FIXTURE(fixture, "each tier serves alone and without a tier nothing is known") {
  REQUIRE(save(only_local, record(16, "h")));
  CHECK(stored(remote).empty());
  CHECK(best(only_local, "h"));
  CHECK_FALSE(best(only_remote, "h"));
  REQUIRE(save({{}, {}, "matmul"}, record(16, "h")));
  CHECK(best({{}, {}, "matmul"}, "h").error().code() == errc::not_found);
  CHECK(bundled.empty());
}

TEST_CASE_FIXTURE(fixture, "a saved entry is in every tier with the same bytes") {
  REQUIRE(save(both, record(16, "h")));
  CHECK(stored(local) == encode_record(record(16, "h")));
  CHECK(stored(remote) == stored(local));
}

TEST_CASE_FIXTURE(fixture, "a later tuning replaces the earlier one") {
  REQUIRE(save(both, record(16, "h")));
  REQUIRE(save(both, record(32, "h")));
  CHECK(best(only_local, "h")->best.candidate == 1);
  CHECK(best(only_remote, "h")->best.candidate == 1);
}

TEST_CASE_FIXTURE(fixture, "saved entries and local hits are noted for the sessions") {
  const auto line = "matmul.best_config " + encode_record(record(16, "h"));
  const auto entry = "tuning autotune " + encode_record(record(16, "h"));
  REQUIRE(save(both, record(16, "h"), {7, 3}));
  CHECK(bundled == noted{{7, line}});
  CHECK(recorded == noted{{3, entry}});
  REQUIRE(best(both, "h", {8, 0}));
  CHECK(bundled == noted{{7, line}, {8, line}});
  REQUIRE(best(both, "h", {0, 9}));
  CHECK(recorded == noted{{3, entry}, {9, entry}});
  // Matching removes no field from the note: the configs hash is still there.
  CHECK(bundled[1].second.find("configs_hash") != std::string::npos);
  REQUIRE(best(both, "h"));
  CHECK(bundled.size() == 2);
}

TEST_CASE_FIXTURE(fixture, "a remote hit is noted as the local tier stores it") {
  REQUIRE(save(only_remote, record(16, "h"), {5, 0}));
  CHECK(bundled.empty());
  REQUIRE(best(both, "h", {6, 0}));
  CHECK(bundled.size() == 1);
  CHECK(stored(local) == encode_record(record(16, "h")));
}

TEST_CASE_FIXTURE(fixture, "a tuning of coordinate descent is found when that tuning is on") {
  auto found = record(48, "h");
  found.config.found_by_coordesc = true;
  REQUIRE(save(both, found));
  CHECK_FALSE(best(both, "h"));
  auto among = choices("h");
  among.coordinate_descent = true;
  const auto rebuilt = ask<autotune_found>(tunings, verb::best_v, both, among, tuning_notes{});
  REQUIRE(rebuilt);
  CHECK_FALSE(rebuilt->best.candidate);
  CHECK(rebuilt->best.config.arguments == value::map{{"TILE", 48}});
}

} // namespace autotune_cache_test
