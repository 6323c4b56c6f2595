#include "messages/member_set.hpp"

#include "messages/value.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace member_set_test {

using namespace hearth;

member_set set_of(const std::vector<set_member>& members) {
  member_set set;
  for (const auto& member : members)
    set.add(member);
  return set;
}

// Few ids, stamps and contents, so that members collide in every way.
std::vector<set_member> random_members(std::mt19937& random, std::size_t count) {
  std::vector<set_member> members;
  for (std::size_t i = 0; i < count; ++i)
    members.push_back({std::string(1, static_cast<char>('a' + random() % 5)),
                       std::string(1, static_cast<char>('0' + random() % 3)),
                       static_cast<std::int64_t>(random() % 4)});
  return members;
}

TEST_CASE("set: members of one id: the later stamp counts, then the greater content") {
  auto set = set_of({{"a", "old", 1}});
  CHECK(set.add({"a", "new", 2}));
  CHECK_FALSE(set.add({"a", "older", 1}));
  CHECK_FALSE(set.add({"a", "new", 2}));
  CHECK(set.find("a")->content == "new");
  CHECK(set.add({"a", "newer", 2}));
  CHECK(set.find("a")->content == "newer");
  CHECK(set.find("b") == nullptr);
  CHECK(set.latest_stamp() == 2);
}

TEST_CASE("set: the union is the same in every order and every grouping") {
  std::mt19937 random(20261124);
  for (int round = 0; round < 500; ++round) {
    auto members = random_members(random, 12);
    const auto whole = set_of(members);
    std::shuffle(members.begin(), members.end(), random);
    CHECK(set_of(members) == whole);
    auto first = set_of({members.begin(), members.begin() + 5});
    auto second = set_of({members.begin() + 3, members.end()});
    auto reversed = second;
    first.merge(second);
    reversed.merge(set_of({members.begin(), members.begin() + 5}));
    CHECK(first == whole);
    CHECK(reversed == whole);
    CHECK_FALSE(first.merge(whole));
    CHECK(encode(first) == encode(whole));
  }
}

TEST_CASE("set: what another copy lacks makes it whole") {
  std::mt19937 random(20261125);
  for (int round = 0; round < 200; ++round) {
    const auto mine = set_of(random_members(random, 6)), theirs = set_of(random_members(random, 6));
    auto whole = mine;
    whole.merge(theirs);
    auto made_whole = theirs;
    made_whole.merge(mine.without(theirs));
    CHECK(made_whole == whole);
    CHECK(mine.without(whole).empty());
    CHECK(mine.without({}) == mine);
  }
}

TEST_CASE("set: exactly the named members are removed") {
  auto set = set_of({{"a", "x", 5}, {"b", "y", 1}});
  CHECK_FALSE(set.remove({{"a", "x", 4}, {"c", "", 0}}));
  CHECK(set.remove({{"b", "y", 1}}));
  CHECK(set == set_of({{"a", "x", 5}}));
}

TEST_CASE("set: above its limits the earliest members are dropped") {
  auto set = set_of({{"a", "1", 3}, {"b", "1", 1}, {"c", "1", 2}, {"d", "1", 1}});
  CHECK(set.trim({4, 8}).empty());
  CHECK(set.trim({3, 100}) == std::vector<set_member>{{"b", "1", 1}});
  CHECK(set.trim({100, 5}) == std::vector<set_member>{{"d", "1", 1}});
  CHECK(set == set_of({{"a", "1", 3}, {"c", "1", 2}}));
  CHECK(set.trim({100, 1}).size() == 2);
  CHECK(set.empty());
}

TEST_CASE("set: a change joins, removes, and keeps the limits") {
  auto set = set_of({{"a", "1", 1}, {"b", "1", 2}});
  CHECK_FALSE(apply(set, {{}, {}, set_of({{"a", "1", 1}}), {{"c", "1", 1}}, {}}).changed);
  CHECK(apply(set, {{}, {}, set_of({{"c", "1", 3}}), {{"a", "1", 1}}, {2, 100}}).changed);
  CHECK(set == set_of({{"b", "1", 2}, {"c", "1", 3}}));
  // A member that is too early to stay changes nothing.
  const auto late = apply(set, {{}, {}, set_of({{"d", "1", 1}}), {}, {2, 100}});
  CHECK_FALSE(late.changed);
  CHECK(late.dropped == std::vector<set_member>{{"d", "1", 1}});
}

TEST_CASE("set: a written member is later than every member that the set has") {
  auto set = set_of({{"a", "1", 7}, {"b", "1", 2}});
  const auto outcome = apply(set, {{{"b", "2"}, {"c", "0"}, {"b", "0"}}, {}, {}, {}, {}});
  CHECK(outcome.written == std::vector<set_member>{{"b", "2", 8}, {"c", "0", 9}, {"b", "0", 10}});
  CHECK(outcome.dropped == std::vector<set_member>{{"b", "1", 2}, {"b", "2", 8}});
  CHECK(set == set_of({{"a", "1", 7}, {"b", "0", 10}, {"c", "0", 9}}));
  // The same again is a later write.
  CHECK(apply(set, {{{"a", "1"}}, {}, {}, {}, {}}).changed);
  CHECK(set.find("a")->stamp == 11);
  // An added member is written only when the set has none of its id.
  const auto added = apply(set, {{}, {{"a", "2"}, {"e", "1"}}, {}, {}, {}});
  CHECK(added.new_ids == 1);
  CHECK(added.written == std::vector<set_member>{{"e", "1", 12}});
}

TEST_CASE("set: encoded and decoded it is the same") {
  const auto set = set_of({{"", "", 0}, {std::string("\0\xff", 2), "content", INT64_MAX}});
  CHECK(*decode_members(encode(set)) == set);
  CHECK(decode_members(encode(member_set{}))->empty());
  const set_member one{"id", "content", 7};
  CHECK(*decode_member(encode(one)) == one);
}

TEST_CASE("set: its form is that of a list of lists, which stores and servers hold") {
  const auto form_of = [](const set_member& one) {
    return value(value::array{binary{one.id}, value(one.stamp), binary{one.content}});
  };
  const std::string large(70'000, 'x');
  const auto set = set_of({{"a", "", 0}, {"b", large, 300}, {large, "c", INT64_MAX}});
  value::array members;
  for (const auto& one : set.members()) {
    members.push_back(form_of(one));
    CHECK(encode(one) == encode(form_of(one)));
  }
  CHECK(encode(set) == encode(value(value::array{value(1), value(std::move(members))})));
}

TEST_CASE("set: other bytes are malformed") {
  const auto bytes = encode(set_of({{"a", "x", 1}, {"b", "y", 2}}));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK(decode_members(bytes.substr(0, size)).error().code() == errc::malformed);
  const auto member = [](const char* id, std::int64_t stamp) {
    return value(value::array{binary{id}, value(stamp), binary{"x"}});
  };
  const auto encoded = [](std::int64_t version, value::array members) {
    return encode(value(value::array{value(version), value(std::move(members))}));
  };
  CHECK(decode_members(encoded(1, {member("a", 1), member("b", 1)})));
  CHECK_FALSE(decode_members(encoded(2, {member("a", 1)})));
  CHECK_FALSE(decode_members(encoded(1, {member("b", 1), member("a", 1)})));
  CHECK_FALSE(decode_members(encoded(1, {member("a", 1), member("a", 2)})));
  CHECK_FALSE(decode_members(encoded(1, {member("a", -1)})));
  CHECK_FALSE(decode_members(encoded(1, {value("a")})));
  CHECK_FALSE(decode_members(encode(value(value::map{}))));
  CHECK_FALSE(decode_member(encode(value("a"))));
}

} // namespace member_set_test
