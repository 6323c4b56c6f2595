// Graph entries as bytes, and the replay of their counters.
#include "messages/graph_entry.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace graph_entry_test {

using namespace hearth;

TEST_CASE("graph entry: payload, guard, counters, attachments, source and time come back") {
  graph_entry_details details;
  details.guard = "s0 % 8 == 0";
  details.source = "def f(): pass";
  details.counters = {{"fused", 3}, {"lowered", -1}};
  details.attachments = {{"triton/k1", sha256("one")}, {"k2", sha256("two")}};
  details.time_taken = std::chrono::milliseconds(1500);
  const auto entry = encode_graph_entry("payload", details);
  CHECK(entry.payload() == "payload");
  const auto back = decode_graph_entry(entry);
  REQUIRE(back);
  CHECK(*back == details);
  CHECK(time_taken_of(entry) == details.time_taken);
  CHECK(*decode_graph_entry(encode_graph_entry("x", {})) == graph_entry_details{});
}

TEST_CASE("graph entry: a malformed member is named") {
  const auto refusal = [](const char* name, value member) {
    const auto entry = artifact::make("x", value::map{{name, std::move(member)}});
    const auto decoded = decode_graph_entry(entry);
    REQUIRE_FALSE(decoded);
    CHECK(decoded.error().code() == errc::malformed);
    CHECK(decoded.error().text().find(name) != std::string::npos);
  };
  refusal("guard", 1);
  refusal("source", value::array{});
  refusal("time_taken_ns", -1);
  refusal("time_taken_ns", "long");
  refusal("counters", value::map{{"fused", "three"}});
  refusal("attachments", value::array{value::array{"k", binary{"short"}}});
  refusal("attachments", value::array{value::array{"../k", binary{std::string(32, 'd')}}});
  CHECK(decode_graph_entry(artifact::make("x", std::string_view("\xc1"))).error().code() ==
        errc::malformed);
}

TEST_CASE("graph entry: an artifact without a time has none") {
  CHECK(time_taken_of(artifact::make("x")).count() == 0);
  CHECK(time_taken_of(artifact::make("x", std::string_view("\xc1"))).count() == 0);
  CHECK(time_taken_of(artifact::make("x", value::map{{"time_taken_ns", 5}})).count() == 5);
}

TEST_CASE("counters: replayed deltas change them as the compile did") {
  counter_set compiled;
  compiled.add("fused");
  compiled.add("fused", 2);
  compiled.add("lowered", -1);
  counter_set host;
  host.add("fused", 10);
  host.apply(compiled.all());
  CHECK(host.value("fused") == 13);
  CHECK(host.value("lowered") == -1);
  CHECK(host.value("never") == 0);
  host.add("full", std::numeric_limits<std::int64_t>::max());
  host.add("full");
  CHECK(host.value("full") == std::numeric_limits<std::int64_t>::min());
}

} // namespace graph_entry_test
