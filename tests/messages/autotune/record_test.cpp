#include "messages/autotune/record.hpp"

#include <doctest/doctest.h>

namespace record_test {

using namespace hearth;

namespace {

autotune_record whole() {
  autotune_record record;
  record.config.arguments = {{"XBLOCK", 64}, {"fast", true}, {"scale", 0.5}, {"mode", "a"}};
  record.config.num_warps = 4;
  record.config.num_stages = 2;
  record.config.num_consumer_groups = 0;
  record.config.num_buffers_warp_spec = 3;
  record.config.found_by_coordesc = true;
  record.configs_hash = "hash-1";
  record.time_taken_ns = 2'345'678;
  record.triton_cache_hash = "TRITON";
  record.kernel_time_ns = 17;
  record.label = "matmul";
  return record;
}

void check_wrong(const char* field, const value& wrong) {
  auto fields = to_best_config(whole()).value();
  fields[field] = wrong;
  const auto read = record_of_best_config(fields);
  REQUIRE_FALSE(read);
  CHECK(read.error().code() == errc::malformed);
  CHECK_MESSAGE(read.error().text().find(field) != std::string::npos, read.error().text());
}

} // namespace

TEST_CASE("a record has Inductor's fields, and the time in ns as well") {
  const auto fields = to_fields(whole());
  CHECK(fields.at("config") == value{whole().config.arguments});
  CHECK(fields.at("num_warps") == value{4});
  CHECK(fields.at("num_stages") == value{2});
  CHECK(fields.at("num_consumer_groups") == value{0});
  CHECK(fields.at("num_buffers_warp_spec") == value{3});
  CHECK(fields.at("configs_hash") == value{"hash-1"});
  CHECK(fields.at("found_by_coordesc") == value{true});
  CHECK(fields.at("time_taken_ms") == value{2});
  CHECK(fields.at("time_taken_ns") == value{2'345'678});
  CHECK(fields.at("triton_cache_hash") == value{"TRITON"});
}

TEST_CASE("a record survives being stored") {
  CHECK(decode_record(encode_record(whole())).value() == whole());
  CHECK(decode_record(encode_record({})).value() == autotune_record{});
  autotune_record bare;
  CHECK_FALSE(to_fields(bare).contains("num_warps"));
}

TEST_CASE("bytes that are no record are malformed") {
  for (const auto* bytes : {"", "\xc0", "\x80", "\x81\xa1x\x01"})
    CHECK(decode_record(bytes).error().code() == errc::malformed);
}

TEST_CASE("a best config is one flat map of Inductor's names alone") {
  const value::map expected{{"XBLOCK", 64},
                            {"configs_hash", "hash-1"},
                            {"fast", true},
                            {"found_by_coordesc", true},
                            {"mode", "a"},
                            {"num_buffers_warp_spec", 3},
                            {"num_consumer_groups", 0},
                            {"num_stages", 2},
                            {"num_warps", 4},
                            {"scale", 0.5},
                            {"time_taken_ms", 2},
                            {"triton_cache_hash", "TRITON"}};
  CHECK(to_best_config(whole()).value() == expected);
}

TEST_CASE("a best config that was read is written unchanged, unknown fields included") {
  value::map file = to_best_config(whole()).value();
  file["some_later_field"] = value::array{1, value::map{{"deep", value()}}};
  file["triton_cache_hash"] = value();
  const auto read = record_of_best_config(file);
  REQUIRE(read);
  CHECK(read->time_taken_ns == 2'000'000);
  CHECK(read->config.arguments.at("some_later_field") == file.at("some_later_field"));
  CHECK(to_best_config(decode_record(encode_record(*read)).value()).value() == file);
}

TEST_CASE("a best config with a field of another type is malformed and names it") {
  check_wrong("num_warps", "four");
  check_wrong("num_warps", value());
  check_wrong("num_stages", 2.5);
  check_wrong("configs_hash", 7);
  check_wrong("found_by_coordesc", "yes");
  check_wrong("time_taken_ms", -1);
  check_wrong("time_taken_ms", INT64_MAX);
  check_wrong("triton_cache_hash", 1);
  auto fields = to_best_config(whole()).value();
  fields.erase("configs_hash");
  CHECK(record_of_best_config(fields).error().code() == errc::malformed);
}

TEST_CASE("an argument with the name of another field cannot be written as a best config") {
  auto record = whole();
  record.config.arguments["num_warps"] = 8;
  CHECK(to_best_config(record).error().code() == errc::invalid_argument);
  CHECK(decode_record(encode_record(record)).value() == record);
}

} // namespace record_test
