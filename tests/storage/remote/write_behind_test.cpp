#include "storage/remote/write_behind.hpp"

#include "messages/key.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

namespace write_behind_test {

using namespace hearth;
using storage::remote_write;
using storage::write_behind;
using kind = storage::remote_write::kind;

namespace {

cache_key named(const std::string& text) {
  static const auto cache = std::make_shared<const named_cache>(
      named_cache{cache_id::make("c").value(), 1, cache_id::make("c").value().seed()});
  return {cache, key(text).encoded()};
}

remote_write write(kind what, const std::string& k, const std::string& payload = "") {
  return {what, named(k), payload.empty() ? artifact{} : artifact::make(payload), {}};
}

struct queue : write_behind {
  explicit queue(const storage::write_behind_limits& limits = {})
      : write_behind(limits) {}
  // Sends one write and returns its number, or 0.
  number send() {
    number which = 0;
    return send_next(which) ? which : 0;
  }
  std::string send_payload() {
    number which = 0;
    const auto* next = send_next(which);
    return next ? std::string(next->value.payload()) : "-";
  }
};

} // namespace

TEST_CASE("writes are sent in order, a bounded number at once") {
  queue all({.in_flight = 2});
  for (const auto* payload : {"1", "2", "3"})
    CHECK(all.push(write(kind::insert, payload, payload)).empty());
  CHECK(all.send_payload() == "1");
  CHECK(all.send_payload() == "2");
  CHECK(all.send_payload() == "-");
  CHECK(all.finish(1).value.payload() == "1");
  CHECK(all.send_payload() == "3");
  CHECK_FALSE(all.empty());
  all.finish(2);
  all.finish(3);
  CHECK(all.empty());
  CHECK(all.bytes() == 0);
}

TEST_CASE("more writes are in flight while they are small") {
  for (const auto& [bytes, count] : {std::pair(10, 100), std::pair(10'000, 32)}) {
    queue all({.in_flight = 100, .bytes_in_flight = 200'000});
    for (int i = 0; i < 200; ++i)
      CHECK(all.push(write(kind::insert, std::to_string(i), std::string(bytes, 'x'))).empty());
    for (int i = 0; i < count; ++i)
      CHECK(all.send() != 0);
    CHECK(all.send() == 0);
    all.finish(1);
    CHECK(all.send() == count + 1);
    all.finish(2);
    CHECK_FALSE(all.retry(3));
    CHECK(all.send() == 3); // in its place
    CHECK(all.send() == count + 2);
    CHECK(all.send() == 0);
  }
}

TEST_CASE("the oldest waiting write is dropped when there are too many") {
  queue all({.entries = 2});
  all.push(write(kind::insert, "a", "1"));
  const auto sent = all.send();
  all.push(write(kind::insert, "b", "2"));
  const auto dropped = all.push(write(kind::insert, "c", "3"));
  REQUIRE(dropped.size() == 1);
  CHECK(dropped[0].value.payload() == "2");
  CHECK(all.finish(sent).value.payload() == "1");
  CHECK(all.newest_of(named("b")) == nullptr);
}

TEST_CASE(
    "the oldest are dropped when all are too large together, and a single one that is too large") {
  queue all({.bytes = 3000});
  all.push(write(kind::insert, "a", std::string(1000, 'a')));
  all.push(write(kind::insert, "b", std::string(1000, 'b')));
  CHECK(all.push(write(kind::insert, "c", std::string(2000, 'c'))).size() == 2);
  CHECK(all.waiting() == 1);
  const auto back = all.push(write(kind::insert, "d", std::string(3000, 'd')));
  REQUIRE(back.size() == 1);
  CHECK(back[0].value.payload().front() == 'd');
  CHECK(all.waiting() == 1);
}

TEST_CASE("the end of a lease is not dropped for an entry") {
  queue all({.entries = 1});
  all.push({kind::release, named("a"), {}, "token"});
  const auto dropped = all.push(write(kind::insert, "b", "1"));
  REQUIRE(dropped.size() == 1);
  CHECK(dropped[0].what == kind::insert);
  REQUIRE(all.send() != 0);
}

TEST_CASE("a write waits while an erase of its key is on its way, if that is asked for") {
  const auto fill = [](queue& all) {
    all.push(write(kind::erase, "a", ""));
    all.push(write(kind::insert, "a", "1"));
  };
  queue waiting({.erases_alone = true});
  fill(waiting);
  const auto erase = waiting.send();
  REQUIRE(erase != 0);
  CHECK(waiting.send() == 0);
  (void)waiting.finish(erase);
  CHECK(waiting.send_payload() == "1");
  queue others({.erases_alone = true});
  others.push(write(kind::erase, "a", ""));
  others.push(write(kind::insert, "b", "2"));
  REQUIRE(others.send() != 0);
  CHECK(others.send_payload() == "2");
  queue usual;
  fill(usual);
  REQUIRE(usual.send() != 0);
  CHECK(usual.send_payload() == "1");
}

TEST_CASE("no more ends of leases wait than the bound has entries") {
  queue all({.entries = 2});
  CHECK(all.push({kind::release, named("a"), {}, "token"}).empty());
  CHECK(all.push({kind::release, named("b"), {}, "token"}).empty());
  const auto dropped = all.push({kind::release, named("c"), {}, "token"});
  REQUIRE(dropped.size() == 1);
  CHECK(dropped[0].key == named("a"));
  CHECK(all.waiting() == 2);
}

TEST_CASE("a write that failed goes back to its place a bounded number of times") {
  queue all({.in_flight = 8, .tries = 2});
  all.push(write(kind::insert, "a", "1"));
  all.push(write(kind::insert, "b", "2"));
  const auto first = all.send();
  const auto second = all.send();
  all.push(write(kind::insert, "c", "3"));
  CHECK_FALSE(all.retry(first));
  CHECK_FALSE(all.retry(second));
  CHECK(all.send_payload() == "1");
  CHECK(all.send_payload() == "2");
  CHECK(all.send_payload() == "3");
  const auto given_up = all.retry(first);
  REQUIRE(given_up);
  CHECK(given_up->value.payload() == "1");
}

TEST_CASE("a write that failed is not sent after a later one of its key") {
  queue all;
  all.push(write(kind::put, "a", "old"));
  const auto old = all.send();
  all.push(write(kind::put, "a", "new"));
  CHECK(all.retry(old));
  CHECK(all.send_payload() == "new");
  CHECK(all.send_payload() == "-");
}

TEST_CASE("a write that failed is not sent after a later one of its key that has ended") {
  queue all({.entries = 2});
  all.push(write(kind::put, "k", "1"));
  CHECK(all.send() == 1);
  all.push(write(kind::put, "k", "2"));
  SUBCASE("acknowledged") {
    CHECK(all.send() == 2);
    all.finish(2);
  }
  SUBCASE("dropped") { CHECK(all.push(write(kind::put, "other", "3")).size() == 1); }
  const auto given_up = all.retry(1);
  REQUIRE(given_up);
  CHECK(given_up->value.payload() == "1");
  CHECK(all.newest_of(named("k")) == nullptr);
}

TEST_CASE("a write knows of an earlier one of its key that the server may get late") {
  queue all;
  all.push(write(kind::put, "k", "1"));
  all.push(write(kind::put, "other", "2"));
  all.push(write(kind::erase, "k"));
  for (const auto which : {1u, 2u, 3u})
    CHECK(all.send() == which);
  CHECK_FALSE(all.follows_unknown(1));
  CHECK_FALSE(all.follows_unknown(2));
  CHECK(all.follows_unknown(3));
  SUBCASE("it was acknowledged") {
    all.finish(1);
    CHECK_FALSE(all.follows_unknown(3));
  }
  SUBCASE("it was given up") {
    CHECK(all.retry(1)->value.payload() == "1");
    CHECK(all.follows_unknown(3));
    CHECK_FALSE(all.retry(3));
    CHECK(all.send() == 3);
    CHECK(all.follows_unknown(3));
  }
  SUBCASE("it was given up while this one waited") {
    CHECK_FALSE(all.retry(3));
    CHECK(all.retry(1)->value.payload() == "1");
    CHECK(all.send() == 3);
    CHECK(all.follows_unknown(3));
  }
}

TEST_CASE("the newest write of a key is the one that the remote tier is going to hold") {
  queue all;
  CHECK(all.newest_of(named("a")) == nullptr);
  all.push(write(kind::put, "a", "old"));
  all.push(write(kind::erase, "a"));
  all.push({kind::release, named("a"), {}, "token"});
  REQUIRE(all.newest_of(named("a")));
  CHECK(all.newest_of(named("a"))->what == kind::erase);
  all.finish(all.send());
  REQUIRE(all.newest_of(named("a")));
  all.finish(all.send());
  CHECK(all.newest_of(named("a")) == nullptr);
  CHECK(all.waiting() == 1);
}

TEST_CASE("a later put or erase of a key is known until it ends, also behind inserts") {
  queue all;
  all.push(write(kind::put, "a", "1"));
  const auto first = all.send();
  CHECK_FALSE(all.has_purge_after(first, named("a")));
  all.push(write(kind::insert, "a", "2"));
  CHECK_FALSE(all.has_purge_after(first, named("a")));
  all.push(write(kind::put, "a", "3"));
  all.push(write(kind::insert, "a", "4"));
  CHECK(all.has_purge_after(first, named("a")));
  CHECK_FALSE(all.has_purge_after(first, named("b")));
  all.finish(all.send());
  const auto later = all.send();
  CHECK(all.has_purge_after(first, named("a"))); // in flight
  CHECK_FALSE(all.has_purge_after(later, named("a")));
  all.finish(later);
  CHECK_FALSE(all.has_purge_after(first, named("a")));
}

TEST_CASE("the last inserts of a key are dropped, all of them") {
  queue all;
  CHECK(all.drop_inserts(named("a")).empty());
  all.push(write(kind::insert, "a", "1"));
  all.push(write(kind::insert, "b", "1"));
  all.push(write(kind::overwrite, "a", "2"));
  all.push(write(kind::insert, "a", "3"));
  CHECK(all.drop_inserts(named("a")).empty());
  CHECK_FALSE(all.newest_of(named("a")));
  CHECK(all.waiting() == 1);
  CHECK(all.drop_inserts(named("b")).empty());
  CHECK(all.empty());
  CHECK(all.bytes() == 0);
}

TEST_CASE("an insert that is dropped in flight goes on, and counts no more") {
  queue all;
  all.push(write(kind::erase, "a", ""));
  const auto erase = all.send();
  all.push(write(kind::insert, "a", "1"));
  const auto insert = all.send();
  all.push(write(kind::insert, "a", "2"));
  CHECK(all.drop_inserts(named("a")) == std::vector<write_behind::number>{insert});
  CHECK(all.newest_of(named("a"))->what == kind::erase);
  CHECK_FALSE(all.retry(erase)); // it has not been replaced
  CHECK(all.newest_of(named("a"))->what == kind::erase);
  all.finish(insert);
  all.finish(all.send());
  CHECK(all.empty());
}

TEST_CASE("a write counts again when the inserts after it are dropped") {
  queue all;
  all.push(write(kind::insert, "a", "0"));
  all.push(write(kind::erase, "a", ""));
  all.push(write(kind::insert, "b", "1"));
  all.push(write(kind::insert, "a", "2"));
  CHECK(all.newest_of(named("a"))->what == kind::insert);
  CHECK(all.drop_inserts(named("a")).empty());
  CHECK(all.newest_of(named("a"))->what == kind::erase);
  CHECK(all.waiting() == 3); // the insert before the erase too
  CHECK(all.drop_inserts(named("a")).empty());
  CHECK(all.waiting() == 3);
}

TEST_CASE("changes of a set all count, in their order, and replace no entry") {
  queue all({.entries = 3, .in_flight = 2});
  const auto change = [](kind what, std::vector<set_member> members) {
    remote_write made;
    made.what = what;
    made.key = named("k");
    made.members = std::move(members);
    return made;
  };
  CHECK(all.push(change(kind::add, {{"a", "1", 1}, {"b", "1", 2}})).empty());
  CHECK(all.push(change(kind::remove, {{"a", "1", 1}})).empty());
  CHECK(all.push(change(kind::add, {{"c", "1", 3}})).empty());
  CHECK(all.newest_of(named("k")) == nullptr);
  const auto ids = [&] {
    member_set set;
    all.apply_changes(named("k"), set);
    std::string names;
    for (const auto& member : set.members())
      names += member.id;
    return names;
  };
  CHECK(ids() == "bc");
  const auto first = all.send();
  CHECK(ids() == "bc");
  // A failed change is sent again, though later ones follow it.
  CHECK_FALSE(all.retry(first));
  CHECK(ids() == "bc");
  CHECK(all.send() == first);
  all.finish(first);
  CHECK(ids() == "c");
  // The oldest waiting change is dropped when there is no room.
  CHECK(all.push(change(kind::add, {{"d", "1", 4}})).empty());
  const auto dropped = all.push(change(kind::add, {{"e", "1", 5}}));
  REQUIRE(dropped.size() == 1);
  CHECK(dropped[0].what == kind::remove);
  CHECK(all.bytes() > 0);
}

TEST_CASE("members are sent after the entries that they lead to") {
  queue all;
  remote_write members;
  members.what = kind::add;
  members.key = named("set");
  members.members = {{"a", "1", 1}};
  CHECK(all.push(write(kind::insert, "entry", "e")).empty());
  CHECK(all.push(members).empty());
  const auto entry = all.send();
  CHECK(entry != 0);
  CHECK(all.send() == 0);
  // The entry failed: it is sent again, still before the members.
  CHECK_FALSE(all.retry(entry));
  CHECK(all.send() == entry);
  CHECK(all.send() == 0);
  all.finish(entry);
  CHECK(all.send() != 0);
}

TEST_CASE("a write that has to wait does not stop the others") {
  queue all({.erases_alone = true});
  const auto add = [&](const std::string& set, const std::string& member) {
    remote_write members;
    members.what = kind::add;
    members.key = named(set);
    members.members = {{member, "1", 1}};
    CHECK(all.push(members).empty());
  };
  CHECK(all.push(write(kind::insert, "entry", "e")).empty());
  const auto entry = all.send();
  CHECK(all.push(write(kind::erase, "a")).empty());
  const auto erase = all.send();
  add("set", "m");                                               // 3: waits for the entry
  CHECK(all.push(write(kind::insert, "a", "again")).empty());    // 4: waits for the erase
  CHECK(all.push({kind::release, named("a"), {}, "t"}).empty()); // 5: behind the insert
  remote_write gone;
  gone.what = kind::remove;
  gone.key = named("set");
  gone.members = {{"m", "", 0}};
  CHECK(all.push(gone).empty());                              // 6: behind what is added
  CHECK(all.push(write(kind::insert, "other", "o")).empty()); // 7
  add("more", "n");                                           // 8: behind all these entries
  CHECK(all.send() == 7);
  CHECK(all.send() == 0);
  all.finish(entry);
  CHECK(all.send() == 0); // the set still waits for the erase
  all.finish(erase);
  for (const auto next : {3, 4, 5, 6})
    CHECK(all.send() == next);
  CHECK(all.send() == 0);
  all.finish(7);
  CHECK(all.send() == 0);
  all.finish(4);
  CHECK(all.send() == 8);
}

} // namespace write_behind_test
