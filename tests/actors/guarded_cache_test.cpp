#include "actors/guarded_cache.hpp"

#include "tests/support/tiers.hpp"

#include <utility>

namespace guarded_cache_test {

using namespace hearth;
using namespace hearth::test;

namespace {

struct fixture : deterministic {
  temporary_directory directory;
  tiers one{*this, directory.path()};
  guarded_cache_actor guarded = keep(system.spawn(actors::guarded_cache, one.router));
  const cache_key k = key_in("fxgraph", "graph");

  expected<insert_outcome> insert(const std::string& guard, const std::string& payload) {
    return ask<insert_outcome>(guarded, verb::insert_v, k, guard, artifact::make(payload));
  }
  guarded_reply get(const hints& values) {
    return ask<guarded_reply>(guarded, verb::get_v, k, values).value();
  }
};

} // namespace

TEST_CASE_FIXTURE(fixture, "a lookup is a full miss a guard miss or a hit") {
  CHECK(get({{"s0", 8}}).status == guarded_status::full_miss);
  CHECK(*insert("s0 % 8 == 0", "aligned") == insert_outcome::inserted);
  const auto miss = get({{"s0", 7}});
  CHECK(miss.status == guarded_status::guard_miss);
  CHECK(miss.sample == "s0 % 8 == 0");
  const auto hit = get({{"s0", 16}});
  CHECK(hit.status == guarded_status::hit);
  CHECK(hit.found.value.payload() == "aligned");
  CHECK(hit.guard == "s0 % 8 == 0");
}

TEST_CASE_FIXTURE(fixture, "variants of one key live side by side") {
  CHECK(*insert("s0 % 8 == 0", "aligned") == insert_outcome::inserted);
  CHECK(*insert("s0 % 8 != 0", "general") == insert_outcome::inserted);
  CHECK(*insert("s0 % 8 == 0", "aligned") == insert_outcome::exists);
  CHECK(get({{"s0", 8}}).found.value.payload() == "aligned");
  CHECK(get({{"s0", 9}}).found.value.payload() == "general");
}

TEST_CASE_FIXTURE(fixture, "a variant without a guard serves everything") {
  CHECK(insert("", "any"));
  const auto hit = get({});
  CHECK(hit.status == guarded_status::hit);
  CHECK(hit.guard.empty());
  CHECK(hit.sample.empty());
}

TEST_CASE_FIXTURE(fixture, "a guard that cannot be evaluated does not hold and is counted") {
  CHECK(insert("s1 > 0", "x"));
  CHECK(insert("s0 // 0 == 1", "y"));
  CHECK(insert("s0 ==", "z"));
  const auto miss = get({{"s0", 1}});
  CHECK(miss.status == guarded_status::guard_miss);
  CHECK(miss.unevaluated == 3);
}

TEST_CASE_FIXTURE(fixture, "a variant that is gone is skipped and counted") {
  CHECK(insert("s0 > 0", "one"));
  CHECK(insert("s0 > 1", "two"));
  std::vector<std::string> digests;
  CHECK(one.store->list([&](const storage::entry_info& entry) {
    if (entry.payload_bytes == 3) digests.push_back(entry.key);
    return true;
  }));
  REQUIRE(digests.size() == 2);
  // The variant that a lookup tries first is erased first.
  const auto tried_first = get({{"s0", 5}}).found.value.payload() == "one" ? "one" : "two";
  const auto payload_of = [&](const std::string& digest) {
    return std::string(
        ask<lookup>(one.shard, verb::get_v, cache_key(k.cache, digest))->value.payload());
  };
  if (payload_of(digests[0]) != tried_first) std::swap(digests[0], digests[1]);
  REQUIRE(payload_of(digests[0]) == tried_first);
  const auto left = payload_of(digests[1]);
  CHECK(left != tried_first);
  CHECK(*ask<bool>(one.shard, verb::erase_v, cache_key(k.cache, digests[0])));
  const auto hit = get({{"s0", 5}});
  CHECK(hit.status == guarded_status::hit);
  CHECK(hit.found.value.payload() == left);
  CHECK(hit.broken == 1);
  CHECK(*ask<bool>(one.shard, verb::erase_v, cache_key(k.cache, digests[1])));
  const auto miss = get({{"s0", 5}});
  CHECK(miss.status == guarded_status::full_miss);
  CHECK(miss.broken == 2);
}

TEST_CASE_FIXTURE(fixture, "a list that cannot be read is replaced by the next variant") {
  const auto list = derived_key(k, key("variants"));
  CHECK(ask<insert_outcome>(one.shard, verb::insert_v, list, artifact::make("no list")));
  CHECK(get({{"s0", 8}}).status == guarded_status::full_miss);
  CHECK(*insert("s0 % 8 == 0", "aligned") == insert_outcome::inserted);
  CHECK(get({{"s0", 8}}).status == guarded_status::hit);
}

TEST_CASE_FIXTURE(fixture, "two processes that add variants at once lose none") {
  tiers two(*this, directory.path());
  const auto other = keep(system.spawn(actors::guarded_cache, two.router));
  const auto add = [&](int i) {
    return self->request(i % 2 == 0 ? guarded : other, caf::infinite, verb::insert_v, k,
                         "s0 == " + std::to_string(i), artifact::make(std::to_string(i)));
  };
  std::vector<decltype(add(0))> answers;
  for (int i = 0; i < 8; ++i)
    answers.push_back(add(i));
  run_until_idle();
  for (auto& answer : answers)
    answer.receive([](insert_outcome outcome) { CHECK(outcome == insert_outcome::inserted); },
                   [](const caf::error& why) { FAIL(from_caf(why).text()); });
  for (int i = 0; i < 8; ++i)
    CHECK(get({{"s0", i}}).found.value.payload() == std::to_string(i));
}

TEST_CASE_FIXTURE(fixture, "entries with guards survive a restart") {
  CHECK(insert("s0 % 8 == 0", "aligned"));
  tiers next(*this, directory.path());
  const auto again = keep(system.spawn(actors::guarded_cache, next.router));
  const auto hit = ask<guarded_reply>(again, verb::get_v, k, hints{{"s0", 8}});
  CHECK(hit->status == guarded_status::hit);
  CHECK(hit->found.from == tier::disk);
}

TEST_CASE_FIXTURE(
    fixture, "a list that another writer stores past the lock is extended not taken as one's own") {
  // The other writer's list has the same bytes as the list of that one variant under another key.
  const auto other = key_in("fxgraph", "other");
  CHECK(*ask<insert_outcome>(guarded, verb::insert_v, other, std::string("s0 == 1"),
                             artifact::make("theirs")) == insert_outcome::inserted);
  const auto list_of = [](const cache_key& base) { return derived_key(base, key("variants")); };
  const auto theirs = ask<lookup>(one.shard, verb::get_v, list_of(other))->value;
  REQUIRE(theirs);
  tiers two{*this, directory.path()};
  const auto list = list_of(k);
  const auto store_theirs = [&] {
    storage::write_request request{storage::write_kind::insert, storage::entry_key(list)};
    request.value = theirs;
    two.store->apply(two.store->shard_of(list.disk_hash), {&request, 1});
    CHECK(request.status == storage::write_status::inserted);
  };
  // The first group that is written holds the variant; the second holds the list.
  one.meddled->before_apply = [&] { one.meddled->before_apply = store_theirs; };
  CHECK(*insert("s0 == 2", "ours") == insert_outcome::inserted);
  CHECK(get({{"s0", 2}}).found.value.payload() == "ours");
  // The other writer's line is still there; no variant is stored for it under this key: it is
  // counted.
  CHECK(get({{"s0", 1}}).broken == 1);
}

TEST_CASE_FIXTURE(fixture, "a list that another writer stores again and again is an error") {
  tiers two{*this, directory.path()};
  const auto list = derived_key(k, key("variants"));
  const auto apply = [&](storage::write_kind kind) {
    storage::write_request request{kind, storage::entry_key(list)};
    request.value = artifact::make("no list");
    two.store->apply(two.store->shard_of(list.disk_hash), {&request, 1});
  };
  auto& hooks = *one.meddled;
  const auto insert_theirs = [&] { apply(storage::write_kind::insert); };
  // The list exists before each write, and is gone again at each read after it.
  hooks.before_apply = [&] {
    hooks.before_apply = [&] {
      insert_theirs();
      hooks.after_apply = [&] {
        apply(storage::write_kind::erase);
        hooks.before_apply = insert_theirs;
      };
    };
  };
  CHECK(insert("s0 == 2", "ours").error().code() == errc::busy);
  CHECK_FALSE(hooks.before_apply); // the hook ran
  // The lock is free: a later insert is listed.
  apply(storage::write_kind::erase);
  CHECK(insert("s0 == 2", "ours"));
  CHECK(get({{"s0", 2}}).found.value.payload() == "ours");
}

} // namespace guarded_cache_test
