#include "actors/guarded_cache.hpp"

#include "messages/digest.hpp"
#include "messages/member_set.hpp"
#include "tests/support/tiers.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
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
  cache_key set_key() const { return derived_key(k, key("variant set")); }
  member_set variants_of() {
    const auto found = ask<lookup>(one.shard, verb::find_set_v, set_key()).value();
    return decode_members(found.value.payload()).value_or(member_set{});
  }
  // Another process stores the set.
  void put_set(tiers& as, const member_set& set) {
    const auto at = set_key();
    storage::write_request request{storage::write_kind::put, storage::entry_key(at)};
    request.value = artifact::make(encode(set));
    as.store->apply(as.store->shard_of(at.disk_hash), {&request, 1});
    CHECK(request.status == storage::write_status::stored);
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
  CHECK(miss.broken == 1); // the other one has left the set
}

TEST_CASE_FIXTURE(fixture, "a set that cannot be read is replaced by the next variant") {
  CHECK(ask<insert_outcome>(one.shard, verb::insert_v, set_key(), artifact::make("no set")));
  CHECK(get({{"s0", 8}}).status == guarded_status::full_miss);
  CHECK(*insert("s0 % 8 == 0", "aligned") == insert_outcome::inserted);
  CHECK(get({{"s0", 8}}).status == guarded_status::hit);
}

TEST_CASE_FIXTURE(fixture, "the variants in a list of the earlier form are found") {
  CHECK(*insert("s0 == 1", "new") == insert_outcome::inserted);
  CHECK(*insert("s0 == 2", "old") == insert_outcome::inserted);
  auto variants = variants_of();
  REQUIRE(variants.size() == 2);
  // As a host before sets stored it: both in the list, which no set replaces.
  value::array lines;
  for (const auto& variant : variants.members())
    lines.push_back(value::array{binary{variant.id}, value(variant.content)});
  CHECK(*ask<bool>(one.shard, verb::erase_v, set_key()));
  const auto list = derived_key(k, key("variants"));
  CHECK(ask<insert_outcome>(one.shard, verb::insert_v, list,
                            artifact::make(encode(value(std::move(lines))))));
  CHECK(get({{"s0", 2}}).found.value.payload() == "old");
  // They are in the set from now on, and a host that replaces the list takes nothing away.
  CHECK(variants_of().size() == 2);
  CHECK(ask<done>(one.shard, verb::put_v, list, artifact::make("another host's list")));
  CHECK(get({{"s0", 1}}).found.value.payload() == "new");
}

TEST_CASE_FIXTURE(fixture, "variants whose entries are gone leave the set when they are noticed") {
  for (int i = 0; i < 20; ++i)
    CHECK(*insert("s0 == 5", std::to_string(i)) == insert_outcome::inserted);
  CHECK(*insert("s0 == 6", "other") == insert_outcome::inserted);
  const auto all = variants_of();
  for (const auto& variant : all.members())
    if (variant.content == "s0 == 5")
      CHECK(*ask<bool>(one.shard, verb::erase_v, derived_key(k, key::bytes(variant.id))));
  const auto miss = get({{"s0", 5}});
  CHECK(miss.status == guarded_status::guard_miss);
  CHECK(miss.broken == 20);
  CHECK(variants_of().size() == 1);
  CHECK(get({{"s0", 5}}).broken == 0);
  CHECK(get({{"s0", 6}}).found.value.payload() == "other");
  CHECK(*insert("s0 == 5", "0") == insert_outcome::inserted);
  CHECK(get({{"s0", 5}}).found.value.payload() == "0");
}

TEST_CASE_FIXTURE(fixture, "a key takes any number of variants and keeps the latest") {
  const std::size_t max = set_limits{}.members;
  for (std::size_t i = 0; i < max + 50; ++i)
    CHECK(*insert("s0 == " + std::to_string(i), "v") == insert_outcome::inserted);
  CHECK(variants_of().size() == max);
  CHECK(get({{"s0", static_cast<std::int64_t>(max) + 49}}).status == guarded_status::hit);
  CHECK(get({{"s0", 50}}).status == guarded_status::hit);
  CHECK(get({{"s0", 49}}).status == guarded_status::guard_miss);
}

TEST_CASE_FIXTURE(fixture,
                  "all variants but 100 are evicted: these are found, and more can be added") {
  // HEARTH_VARIANTS=5000 is the long form.
  const auto* const asked = std::getenv("HEARTH_VARIANTS");
  const int all = asked ? std::atoi(asked) : 1'500;
  REQUIRE(all >= 1'200);
  const int gone = all - 100;
  const auto guard_of = [](int i) { return "s0 != -" + std::to_string(i + 1); };
  const auto evict = [&](int i) {
    const auto payload = "variant " + std::to_string(i);
    const auto size = static_cast<std::uint64_t>(guard_of(i).size());
    const auto digest = sha256_stream{}
                            .update({reinterpret_cast<const char*>(&size), sizeof size})
                            .update(guard_of(i))
                            .update(payload)
                            .finish();
    const auto at = derived_key(k, key::bytes(std::string(digest.view())));
    return *ask<bool>(one.shard, verb::erase_v, at);
  };
  std::size_t largest = 0;
  for (int i = 0; i < all; ++i) {
    REQUIRE(*insert(guard_of(i), "variant " + std::to_string(i)) == insert_outcome::inserted);
    if (i % 100 == 99) largest = std::max(largest, encode(variants_of()).size());
  }
  MESSAGE("the set of " << variants_of().size() << " variants takes at most " << largest
                        << " bytes");
  CHECK(variants_of().size() <= set_limits{}.members);
  CHECK(largest <= set_limits{}.bytes);
  int evicted = 0;
  for (int i = 0; i < gone; ++i)
    evicted += evict(i) ? 1 : 0;
  CHECK(evicted == gone); // their entries were there, whatever the set had dropped
  const auto hit = get({{"s0", 1}});
  CHECK(hit.status == guarded_status::hit);
  const std::string payload(hit.found.value.payload().substr(8));
  CHECK(std::stoi(payload) >= gone);
  MESSAGE(hit.broken << " variants were noticed to be gone; the set has " << variants_of().size());
  CHECK(variants_of().size() == set_limits{}.members - hit.broken);
  CHECK(get({{"s0", 1}}).broken == 0); // each is noticed once
  CHECK(*insert("s0 == -1", "new") == insert_outcome::inserted);
  CHECK(get({{"s0", -1}}).status == guarded_status::hit);
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

TEST_CASE_FIXTURE(fixture, "a variant is added to a set that another process stores first") {
  member_set theirs;
  theirs.add({"digest of theirs", "s0 == 1", 1});
  tiers two{*this, directory.path()};
  const auto store_theirs = [&] { put_set(two, theirs); };
  // The first group that is written holds the variant; the second holds the set.
  one.meddled->before_apply = [&] { one.meddled->before_apply = store_theirs; };
  CHECK(*insert("s0 == 2", "ours") == insert_outcome::inserted);
  CHECK(get({{"s0", 2}}).found.value.payload() == "ours");
  // The other process's variant is still there; it has no entry here: it is counted.
  CHECK(get({{"s0", 1}}).broken == 1);
}

TEST_CASE_FIXTURE(fixture, "a set that other processes store again and again is an error") {
  tiers two{*this, directory.path()};
  member_set theirs;
  std::function<void()> store_theirs = [&] {
    theirs.add({"digest", "s0 == 1", theirs.latest_stamp() + 1});
    put_set(two, theirs);
    one.meddled->before_apply = store_theirs;
  };
  one.meddled->before_apply = [&] { one.meddled->before_apply = store_theirs; };
  CHECK(insert("s0 == 2", "ours").error().code() == errc::busy);
  CHECK(theirs.latest_stamp() > 10);
  one.meddled->before_apply = nullptr;
  CHECK(insert("s0 == 2", "ours"));
  CHECK(get({{"s0", 2}}).found.value.payload() == "ours");
}

TEST_CASE("a guard is parsed once, good or bad, and the memo is bounded") {
  actors::parsed_guards guards;
  for (int i = 0; i < 5; ++i) {
    CHECK(guards.get("s0 > 1")->evaluate({{"s0", 2}}).value());
    CHECK(guards.get("s0 >").error().code() == errc::malformed);
  }
  CHECK(guards.parses() == 2);
  for (std::size_t i = 0; i < actors::parsed_guards::max_guards; ++i)
    CHECK(guards.get("s0 > " + std::to_string(i + 2)));
  const auto before = guards.parses();
  CHECK(guards.get("s0 > 1"));
  CHECK(guards.parses() == before + 1);
}

} // namespace guarded_cache_test
