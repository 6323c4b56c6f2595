// Slots of names, and what the nodes of a cluster reply.
#include "storage/resp/cluster_slots.hpp"

#include <doctest/doctest.h>

namespace cluster_slots_test {

using namespace hearth::storage;
using kind = resp_value::kind;
using words = std::vector<std::string>;

namespace {

resp_value text(std::string bytes) {
  resp_value value;
  value.type = kind::bytes;
  value.text = std::move(bytes);
  return value;
}

resp_value number(std::int64_t integer) {
  resp_value value;
  value.type = kind::integer;
  value.integer = integer;
  return value;
}

resp_value list(std::vector<resp_value> items) {
  resp_value value;
  value.type = kind::array;
  value.items = std::move(items);
  return value;
}

resp_value node(resp_value host, std::int64_t port) {
  return list({std::move(host), number(port), text("id"), list({})});
}

std::string name_of(const words& command) {
  const auto name = name_in(command);
  return name ? std::string(*name) : "none";
}

} // namespace

// The values are those of redis-server 7's CLUSTER KEYSLOT.
TEST_CASE("cluster slots: the slot of a name is that of its hash tag") {
  CHECK(slot_of("123456789") == 12739);
  CHECK(slot_of("foo") == 12182);
  CHECK(slot_of("") == 0);
  CHECK(slot_of("hearth:default:0:{ab12}:lease") == slot_of("ab12"));
  CHECK(slot_of("{user1000}.following") == slot_of("{user1000}.followers"));
  CHECK(slot_of("foo{{bar}}zap") == slot_of("{bar"));
  CHECK(slot_of("foo{bar}{zap}") == slot_of("bar"));
  // An empty tag, and one without an end, are none.
  CHECK(slot_of("foo{}{bar}") == 8363);
  CHECK(slot_of("foo{bar") == 15278);
}

TEST_CASE("cluster slots: the name in a command") {
  CHECK(name_of({"GET", "k"}) == "k");
  CHECK(name_of({"EVAL", "return 1", "1", "k", "value"}) == "k");
  CHECK(name_of({"EVAL", "return 1", "0"}) == "none");
  CHECK(name_of({"XREAD", "COUNT", "9", "BLOCK", "0", "STREAMS", "log", "0-0"}) == "log");
  CHECK(name_of({"XREAD", "STREAMS"}) == "none");
  CHECK(name_of({"SCAN", "0", "MATCH", "k"}) == "none");
  CHECK(name_of({"PING"}) == "none");
  CHECK(name_of({"PING", "text"}) == "none");
}

TEST_CASE("cluster slots: the table of slots, with nodes that do not tell their host") {
  const auto ranges = slot_ranges_in(
      list({list({number(0), number(5460), node(text("127.0.0.1"), 7000), node(text("::1"), 7003)}),
            list({number(5461), number(5461), node(text(""), 7001)}),
            list({number(5462), number(9000), node({}, 7004)}),
            list({number(9001), number(16383), node(text("?"), 7002)})}));
  REQUIRE(ranges);
  REQUIRE(ranges->size() == 3);
  CHECK((*ranges)[0].first == 0);
  CHECK((*ranges)[0].last == 5460);
  CHECK(((*ranges)[0].leader == cluster_address{"127.0.0.1", 7000}));
  CHECK((*ranges)[1].first == (*ranges)[1].last);
  CHECK(((*ranges)[1].leader == cluster_address{"", 7001}));
  CHECK(((*ranges)[2].leader == cluster_address{"", 7004}));
  CHECK(slot_ranges_in(list({}))->empty());
}

TEST_CASE("cluster slots: what is no table is not taken for one") {
  const auto a = [] { return node(text("a"), 1); };
  for (const auto& item :
       {text("0"), list({}), list({number(0), number(1)}), list({number(-1), number(1), a()}),
        list({number(0), number(16384), a()}), list({number(2), number(1), a()}),
        list({text("0"), number(1), a()}), list({number(0), number(1), text("a:1")}),
        list({number(0), number(1), list({text("a")})}),
        list({number(0), number(1), list({text("a"), text("1")})})})
    CHECK_FALSE(slot_ranges_in(list({item})));
  CHECK_FALSE(slot_ranges_in(text("OK")));
  const auto most = list({number(0), number(16383), node(text("a"), 1)});
  CHECK(slot_ranges_in(list({most}))->size() == 1);
  CHECK_FALSE(slot_ranges_in(list({most, list({number(7), number(7), node(text("b"), 2)})})));
  CHECK(slot_ranges_in(list({list({number(0), number(1), node(text("a"), 0)})}))->empty());
  CHECK(slot_ranges_in(list({list({number(0), number(1), node(text("a"), 65536)})}))->empty());
}

TEST_CASE("cluster slots: redirects") {
  const auto moved = redirect_in("MOVED 3999 127.0.0.1:6381");
  REQUIRE(moved);
  CHECK(moved->slot == 3999);
  CHECK((moved->to == cluster_address{"127.0.0.1", 6381}));
  CHECK_FALSE(moved->is_once);
  const auto asked = redirect_in("ASK 0 ::1:6381");
  REQUIRE(asked);
  CHECK((asked->to == cluster_address{"::1", 6381}));
  CHECK(asked->is_once);
  CHECK(redirect_in("MOVED 1 [::1]:6381")->to.host == "::1");
  CHECK(redirect_in("MOVED 1 :6381")->to.host.empty());
  for (const auto* other :
       {"", "MOVED", "MOVED 1", "MOVED 16384 a:1", "MOVED -1 a:1", "MOVED x a:1", "MOVED 1 a",
        "MOVED 1 a:0", "MOVED 1 a:65536", "MOVED 1 ?:6381", "MOVEDX 1 a:1", "ERR ASK 1 a:1"}) {
    CAPTURE(other);
    CHECK_FALSE(redirect_in(other));
  }
  CHECK(to_string(cluster_address{"::1", 1}) == "[::1]:1");
  CHECK(to_string(cluster_address{"a", 1}) == "a:1");
}

} // namespace cluster_slots_test
