// The log of a fleet's purges (docs/remote-format.md).
#include "storage/remote/purge_log.hpp"

#include "tests/storage/remote/remote_keys.hpp"

#include <doctest/doctest.h>

#include <algorithm>
namespace purge_log_test {

using namespace hearth;
using namespace hearth::storage;
using namespace hearth::test;

using kind = resp_value::kind;

resp_value bytes(std::string text) {
  resp_value made;
  made.type = kind::bytes;
  made.text = std::move(text);
  return made;
}

resp_value array(std::vector<resp_value> items) {
  resp_value made;
  made.type = kind::array;
  made.items = std::move(items);
  return made;
}

// The server's form of a command that was appended at this place.
resp_value entry_of(const std::string& place, const remote_command& command) {
  std::vector<resp_value> fields;
  for (std::size_t i = 6; i < command.size(); ++i)
    fields.push_back(bytes(command[i]));
  return array({bytes(place), array(std::move(fields))});
}

TEST_CASE("purge log: what one host appends another one reads") {
  const auto key = key_in("graphs", "k");
  const auto command = log_purge_command("hearth:purges", {"store", "process"}, true, key);
  CHECK(command[0] == "XADD");
  CHECK(command[1] == "hearth:purges");
  const auto read = logged_purges(array({entry_of("12-3", command)}));
  REQUIRE(read);
  REQUIRE(read->size() == 1);
  const auto& purge = read->front();
  CHECK(purge.place == log_place{12, 3});
  CHECK(purge.writer == log_writer{"store", "process"});
  CHECK(purge.is_put);
  CHECK(purge.cache == "graphs");
  CHECK(purge.version == key.cache->id.version());
  CHECK(purge.key == std::string_view(key.bytes));
  const auto erased = log_purge_command("hearth:purges", {"store", "process"}, false, key);
  CHECK_FALSE(logged_purges(array({entry_of("12-4", erased)}))->front().is_put);
}

TEST_CASE("purge log: a reply of another form is none") {
  CHECK(logged_purges({})->empty());
  CHECK(awaited_purges({})->empty());
  CHECK_FALSE(logged_purges(bytes("x")));
  const auto command = log_purge_command("hearth:purges", {"s", "p"}, true, key_in("graphs", "k"));
  const auto one = entry_of("12-3", command), next = entry_of("12-4", command);
  CHECK(logged_purges(array({one, next})));
  CHECK_FALSE(logged_purges(array({next, one})));
  CHECK_FALSE(logged_purges(array({one, one})));
  CHECK_FALSE(logged_purges(array({bytes("x")})));
  CHECK_FALSE(logged_purges(array({array({bytes("12"), array({})})})));
  CHECK_FALSE(logged_purges(array({array({bytes("12-x"), array({})})})));
  CHECK_FALSE(logged_purges(array({array({bytes("12-1"), bytes("x")})})));
  CHECK_FALSE(awaited_purges(array({})));
  CHECK_FALSE(awaited_purges(array({bytes("x")})));
  // An entry by somebody else has no cache; an odd field is left out.
  const auto foreign = logged_purges(array({array({bytes("12-1"), array({bytes("c")})})}));
  REQUIRE(foreign);
  CHECK(foreign->front().cache.empty());
  const auto awaited =
      awaited_purges(array({array({bytes("log"), array({array({bytes("1-2"), array({})})})})}));
  REQUIRE(awaited);
  CHECK(awaited->front().place == log_place{1, 2});
  auto in_resp3 = array({bytes("log"), array({array({bytes("1-2"), array({})})})});
  in_resp3.type = kind::map;
  REQUIRE(awaited_purges(in_resp3));
  CHECK(awaited_purges(in_resp3)->front().place == log_place{1, 2});
}

TEST_CASE("purge log: a store keeps a mark for each log, the last one counts, and the oldest go") {
  auto marks = add_mark({}, log_mark("near", "log", {1, 0}));
  marks = add_mark(marks, log_mark("far", "log", {2, 0}));
  marks = add_mark(marks, log_mark("near", "log", {3, 0}));
  CHECK(place_in_marks(marks, "near", "log") == log_place{3, 0});
  CHECK(place_in_marks(marks, "far", "log") == log_place{2, 0});
  CHECK_FALSE(place_in_marks(marks, "third", "log"));
  for (int i = 0; i < 15; ++i)
    marks = add_mark(marks, log_mark("other" + std::to_string(i), "log", {4, 0}));
  CHECK_FALSE(place_in_marks(marks, "far", "log"));
  CHECK(place_in_marks(marks, "near", "log") == log_place{3, 0});
  CHECK(place_in_marks(marks, "other14", "log") == log_place{4, 0});
}

TEST_CASE("purge log: a mark of the version that kept one a store holds, and is replaced") {
  const std::string start = "hearth-fleet-1\n5-6\n";
  const auto old = start + std::to_string(fast_hash("hearth-fleet-1\nserver\nlog\n5-6")) + "\n";
  CHECK(place_in_marks(old, "server", "log") == log_place{5, 6});
  CHECK_FALSE(place_in_marks(old, "other", "log"));
  CHECK_FALSE(place_in_marks(start + "1\n", "server", "log"));
  const auto marks = add_mark(old, log_mark("server", "log", {7, 0}));
  CHECK(place_in_marks(marks, "server", "log") == log_place{7, 0});
}

TEST_CASE("purge log: a purge says which other logs are told, if there are some") {
  const auto key = test::key_in("graphs", "k");
  const auto alone = log_purge_command("hearth:purges", {"store", "process"}, true, key);
  auto several = log_purge_command("hearth:purges", {"store", "process"}, true, key, "one two");
  REQUIRE(several.size() == alone.size() + 2);
  CHECK(several[alone.size()] == "t");
  CHECK(several[alone.size() + 1] == "one two");
}

TEST_CASE("purge log: a purge has its change's number in the writer's journal, if one has it") {
  const auto key = test::key_in("graphs", "k");
  const auto read = [](const remote_command& command) {
    return logged_purges(array({entry_of("12-3", command)}))->front();
  };
  CHECK_FALSE(read(log_purge_command("log", {"s", "p"}, true, key)).change);
  const logged_change change{18446744073709551615u, 45};
  const auto command = log_purge_command("log", {"s", "p"}, false, key, "one", change);
  CHECK(read(command).change == change);
  CHECK(read(command).told == "one");
  for (const auto* bad : {"", "45", "7-", "-45", "7-x", "18446744073709551616-1"}) {
    auto damaged = command;
    *std::find(damaged.begin(), damaged.end(), "18446744073709551615-45") = bad;
    CHECK_FALSE(read(damaged).change);
  }
}

TEST_CASE("purge log: places are in the order of their numbers") {
  CHECK(log_place{9, 9} < log_place{10, 0});
  CHECK(log_place{10, 9} < log_place{10, 10});
  CHECK(to_string(log_place{18446744073709551615u, 7}) == "18446744073709551615-7");
  CHECK(log_place_of("18446744073709551615-7") == log_place{18446744073709551615u, 7});
  for (const auto* bad : {"", "-", "1", "1-", "-1", "18446744073709551616-0", "1-1 ", "+1-1"})
    CHECK_FALSE(log_place_of(bad));
}

TEST_CASE("purge log: a mark holds for its server and its log only, undamaged") {
  const auto mark = log_mark("server", "log", {5, 6});
  CHECK(place_in_marks(mark, "server", "log") == log_place{5, 6});
  CHECK_FALSE(place_in_marks(mark, "other", "log"));
  CHECK_FALSE(place_in_marks(mark, "server", "other"));
  for (std::size_t i = 0; i < mark.size(); ++i) {
    auto changed = mark;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    CHECK_FALSE(place_in_marks(changed, "server", "log"));
    CHECK_FALSE(place_in_marks(mark.substr(0, i), "server", "log"));
  }
}

TEST_CASE("purge log: the entries and sets of a cache are found, and neither leases nor others") {
  const auto id = *cache_id::make("graphs");
  const std::string entry = "hearth:graphs:0:" + std::string(32, 'a');
  const auto reply = array({bytes("17"), array({bytes(entry), bytes(entry + ":set"),
                                                bytes(entry + ":lease"), bytes(entry + ":sets")})});
  const auto found = found_entries(reply, {}, id);
  REQUIRE(found);
  CHECK(found->cursor == "17");
  CHECK(found->names == std::vector<std::string>{entry});
  CHECK(found->sets == std::vector<std::string>{entry + ":set"});
  CHECK_FALSE(found_entries(bytes("0"), {}, id));
  const std::string tagged = "hearth:graphs:0:{" + std::string(32, 'a') + "}";
  const auto of_cluster = found_entries(
      array({bytes("0"), array({bytes(tagged), bytes(tagged + ":set"), bytes(tagged + ":lease")})}),
      {"hearth", true}, id);
  REQUIRE(of_cluster);
  CHECK(of_cluster->names == std::vector<std::string>{tagged});
  CHECK(of_cluster->sets == std::vector<std::string>{tagged + ":set"});
}

} // namespace purge_log_test
