#include "messages/action.hpp"

#include "messages/value.hpp"

#include <doctest/doctest.h>

namespace action_test {

using namespace hearth;

namespace {

action_result example() {
  action_result result;
  result.process.output = "said";
  result.process.errors = "complained";
  result.process.wall_ns = 5'000'000;
  result.outputs = {artifact::make("first"), artifact::make(""),
                    artifact::make(std::string("\0x", 2))};
  result.executable = {true, false, false};
  return result;
}

artifact with(const artifact& of, const std::string& member, value replaced) {
  auto metadata = *of.metadata();
  metadata[member] = std::move(replaced);
  return artifact::make(of.payload(), metadata);
}

} // namespace

TEST_CASE(
    "observations are stored under the action's key, a result under its observation's digest") {
  CHECK(observations_part() == key("observation set"));
  CHECK(observation_list_part() == key("observations"));
  CHECK(observed_part("read 1") == key::bytes(sha256("read 1").view()));
}

TEST_CASE("placeholders in an argument become absolute paths") {
  const auto expanded = [](std::string argument) {
    return expand_placeholders(std::move(argument), "/w/dir");
  };
  CHECK(expanded("{directory}") == "/w/dir");
  CHECK(expanded("-I{directory}/include:{directory}") == "-I/w/dir/include:/w/dir");
  CHECK(expanded("{in:a.cpp}") == "/w/dir/a.cpp");
  CHECK(expanded("cat {in:sub/a} {in:b} > {out:c}") == "cat /w/dir/sub/a /w/dir/b > /w/dir/c");
}

TEST_CASE("text that is no placeholder is unchanged") {
  for (const std::string text : {"", "{x}", "{}", "{in:open", "{out:", "{ directory}", "a{in}b"})
    CHECK(expand_placeholders(text, "/w") == text);
  CHECK(expand_placeholders("{in:a}", "/w/{in:b}") == "/w/{in:b}/a");
}

TEST_CASE("a result comes back from its entry complete") {
  const auto entry = encode_result(example());
  const auto back = decode_result(entry);
  REQUIRE(back);
  CHECK(back->process.output == "said");
  CHECK(back->process.errors == "complained");
  CHECK(back->process.wall_ns == 5'000'000);
  REQUIRE(back->outputs.size() == 3);
  CHECK(back->outputs[0].payload() == "first");
  CHECK(back->outputs[1].payload().empty());
  CHECK(back->outputs[2].payload() == std::string("\0x", 2));
  CHECK(back->executable == std::vector<bool>{true, false, false});
  CHECK(entry.metadata()->at("time_taken_ns") == value(5'000'000));
}

TEST_CASE("a failure comes back with its status") {
  action_result failed;
  failed.process.exit_status = 42;
  CHECK(decode_result(encode_result(failed))->process.exit_status == 42);
}

TEST_CASE("an entry that is no result is malformed and never read beyond its end") {
  const auto entry = encode_result(example());
  const auto is_malformed = [](const artifact& bad) {
    const auto result = decode_result(bad);
    return !result && result.error().code() == errc::malformed;
  };
  CHECK(is_malformed(artifact::make("anything")));
  CHECK(is_malformed(with(entry, "action", 2)));
  CHECK(is_malformed(with(entry, "stdout", -1)));
  CHECK(is_malformed(with(entry, "stderr", std::int64_t{1} << 62)));
  CHECK(is_malformed(with(entry, "stdout", 3)));
  CHECK(is_malformed(with(entry, "executable", value::array{})));
  CHECK(is_malformed(with(entry, "outputs", value::array{"x", 0, 2})));
  for (const auto* name : {"action", "status", "stdout", "stderr", "time_taken_ns", "outputs"})
    CHECK_MESSAGE(is_malformed(with(entry, name, value())), name);
  const auto payload = entry.payload();
  CHECK(is_malformed(artifact::make(payload.substr(0, payload.size() - 1), *entry.metadata())));
}

TEST_CASE("the latest observation comes first") {
  member_set set;
  set.add({"one", "", 3});
  set.add({std::string("t\0wo", 4), "", 7});
  set.add({"three", "", 3});
  CHECK(observations_in(set) == std::vector<std::string>{std::string("t\0wo", 4), "one", "three"});
  CHECK(digest_of(member_set{}).empty());
  auto other = set;
  CHECK(digest_of(set) == digest_of(other));
  other.add({"one", "", 8});
  CHECK(digest_of(set) != digest_of(other));
}

TEST_CASE("observations of the earlier form, a list, are read") {
  const auto list = encode(value(value::array{binary{"one"}, binary{"two"}}));
  CHECK(observations_in_list(artifact::make(list)) ==
        std::vector<set_member>{{"one", ""}, {"two", ""}});
  CHECK(observations_in_list(artifact::make("x")).empty());
  CHECK(observations_in_list(artifact::make(encode(value(value::array{"text"})))).empty());
}

} // namespace action_test
