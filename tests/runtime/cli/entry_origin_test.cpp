#include "runtime/cli/io/entry_origin.hpp"

#include "messages/autotune/record.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace entry_origin_test {

using namespace hearth;
using namespace hearth::cli;

TEST_CASE("origin: what a tuned kernel, a result, a graph and a tuning tell") {
  const auto of = [](std::string_view cache, const value::map& metadata) {
    return text_of(origin_of(cache, artifact::make("bytes", metadata)));
  };
  CHECK(of("kernels", {{"config_text", "TILE=16"},
                       {"time_taken_ns", std::int64_t{1'200'000'000}}}) == "1.20 s, TILE=16");
  CHECK(of("results", {{"action", std::int64_t{1}},
                       {"status", std::int64_t{0}},
                       {"outputs", value::array{value(std::int64_t{3})}},
                       {"time_taken_ns", std::int64_t{2'000'000}}}) ==
        "2.00 ms, status 0, 1 output");
  CHECK(of("graphs", {{"guard", "s0 > 1"}}) == "guard s0 > 1");
  CHECK(of("kernels", {{"config_text", "\033[2J"}}) == "\\x1b[2J");
  autotune_record record;
  record.label = "matmul";
  record.time_taken_ns = 5;
  record.config.arguments["TILE"] = std::int64_t{8};
  const auto tuned = origin_of("autotune.local", artifact::make(encode_record(record)));
  CHECK(text_of(tuned) == "5 ns, matmul, TILE=8");
  CHECK(json_of(tuned) ==
        nlohmann::json{{"time_taken_ns", 5}, {"kernel", "matmul"}, {"what", "TILE=8"}});
}

TEST_CASE("origin: a graph tells the documents that its host has kept") {
  const auto entry = artifact::make(
      "code", value::map{{"documents", value::map{{"output code", "extern"}, {"odd", 1}}}});
  const auto origin = origin_of("fxgraph", entry);
  CHECK(origin.is_known());
  CHECK(json_of(origin) == nlohmann::json{{"documents", {{"output code", "extern"}}}});
}

TEST_CASE("origin: nothing is known of an entry without metadata, or with others") {
  for (const auto& entry :
       {artifact(), artifact::make("bytes"), artifact::make("bytes", "no msgpack map"),
        artifact::make("bytes", value::map{{"time_taken_ns", "soon"}, {"guard", std::int64_t{1}}}),
        artifact::make("bytes", value::map{{"action", std::int64_t{1}}})}) {
    CHECK(text_of(origin_of("kernels", entry)) == "-");
    CHECK(json_of(origin_of("autotune", entry)).is_null());
  }
}

} // namespace entry_origin_test
