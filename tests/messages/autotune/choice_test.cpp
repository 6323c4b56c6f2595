#include "messages/autotune/choice.hpp"

#include <doctest/doctest.h>

namespace choice_test {

using namespace hearth;

namespace {

kernel_config config(std::int64_t block, std::int64_t warps, std::int64_t stages = 1) {
  return {.arguments = {{"XBLOCK", block}}, .num_warps = warps, .num_stages = stages};
}

autotune_record record(const kernel_config& best) {
  autotune_record made;
  made.config = best;
  made.configs_hash = "h";
  return made;
}

std::optional<std::size_t> index_of(const kernel_config& best,
                                    const std::vector<kernel_config>& among) {
  const auto found = choose(record(best), {among, "h", false});
  return found ? found->candidate : std::nullopt;
}

} // namespace

TEST_CASE("the best is the one candidate with equal arguments, warps and stages") {
  const std::vector<kernel_config> among{config(64, 4), config(128, 4), config(64, 8),
                                         config(64, 4, 2)};
  CHECK(index_of(config(64, 4), among) == 0);
  CHECK(index_of(config(128, 4), among) == 1);
  CHECK(index_of(config(64, 8), among) == 2);
  CHECK(index_of(config(64, 4, 2), among) == 3);
  CHECK_FALSE(index_of(config(32, 4), among));
  CHECK_FALSE(index_of(config(128, 8), among));
}

TEST_CASE("two candidates that match are no match") {
  CHECK_FALSE(choose(record(config(64, 4)), {{config(64, 4), config(64, 4)}, "h", false}));
}

TEST_CASE("a record of other configurations says nothing") {
  CHECK_FALSE(choose(record(config(64, 4)), {{config(64, 4)}, "other", false}));
  auto found = config(48, 4);
  found.found_by_coordesc = true;
  CHECK_FALSE(choose(record(found), {{}, "other", true}));
}

TEST_CASE("a result of coordinate descent is rebuilt when that tuning is on") {
  auto found = config(48, 2, 3);
  found.found_by_coordesc = true;
  const auto rebuilt = choose(record(found), {{config(64, 4)}, "h", true});
  REQUIRE(rebuilt);
  CHECK_FALSE(rebuilt->candidate);
  CHECK(rebuilt->config.arguments == value::map{{"XBLOCK", 48}});
  CHECK(rebuilt->config.num_warps == 2);
  CHECK(rebuilt->config.num_stages == 3);
  CHECK(rebuilt->config.num_consumer_groups == 0);
  CHECK(rebuilt->config.num_buffers_warp_spec == 0);
  CHECK(rebuilt->config.found_by_coordesc);
  found.num_consumer_groups = 2;
  found.num_buffers_warp_spec = 4;
  const auto specialised = choose(record(found), {{}, "h", true});
  CHECK(specialised->config.num_consumer_groups == 2);
  CHECK(specialised->config.num_buffers_warp_spec == 4);
}

TEST_CASE("without that tuning it has to be a candidate") {
  auto found = config(48, 2);
  found.found_by_coordesc = true;
  CHECK_FALSE(choose(record(found), {{config(64, 4)}, "h", false}));
  const auto matched = choose(record(found), {{config(64, 4), config(48, 2)}, "h", false});
  CHECK(matched->candidate == 1);
}

TEST_CASE("arguments are compared as Python compares them") {
  CHECK(equal_as_python(true, 1));
  CHECK(equal_as_python(0, false));
  CHECK(equal_as_python(2, 2.0));
  CHECK(equal_as_python(2.0, 2));
  CHECK_FALSE(equal_as_python(2, 2.5));
  CHECK_FALSE(equal_as_python(INT64_MAX, 9223372036854775808.0));
  CHECK_FALSE(equal_as_python("1", 1));
  CHECK(equal_as_python(value(), value()));
  CHECK(index_of({.arguments = {{"EVEN", true}}}, {{.arguments = {{"EVEN", 1}}}}) == 0);
  // An argument that the record lacks is None.
  CHECK(index_of({}, {{.arguments = {{"EVEN", value()}}}}) == 0);
  CHECK_FALSE(index_of({}, {{.arguments = {{"EVEN", 1}}}}));
}

TEST_CASE("arguments that a candidate lacks do not matter") {
  auto best = config(64, 4);
  best.arguments["later"] = 1;
  CHECK(index_of(best, {config(64, 4)}) == 0);
}

} // namespace choice_test
