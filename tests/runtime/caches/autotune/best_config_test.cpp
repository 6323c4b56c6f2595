#include "runtime/caches/autotune/best_config.hpp"

#include "tests/support/files.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace best_config_test {

using namespace hearth;
using namespace hearth::test;
using nlohmann::json;

namespace {

// The file that PyTorch 2.7 writes with warp specialisation.
constexpr const char* original =
    R"({"XBLOCK": 64, "R0_BLOCK": 8, "num_warps": 4, "num_stages": 2, "configs_hash": )"
    R"("0f1e2d", "found_by_coordesc": false, "time_taken_ms": 117, "triton_cache_hash": "ABC", )"
    R"("num_consumer_groups": 0, "num_buffers_warp_spec": 0})";

void check_damaged(const std::filesystem::path& file, const std::string& text) {
  write_text(file, text);
  const auto read = read_best_config(file);
  REQUIRE_FALSE(read);
  CHECK(read.error().code() == errc::malformed);
  CHECK_MESSAGE(read.error().text().starts_with(file.string() + ": "), read.error().text());
}

} // namespace

TEST_CASE("Inductor's file is read into a typed configuration") {
  const auto record = parse_best_config(original);
  REQUIRE(record);
  CHECK(record->config.arguments == value::map{{"XBLOCK", 64}, {"R0_BLOCK", 8}});
  CHECK(record->config.num_warps == 4);
  CHECK(record->config.num_stages == 2);
  CHECK(record->config.num_consumer_groups == 0);
  CHECK_FALSE(record->config.found_by_coordesc);
  CHECK(record->configs_hash == "0f1e2d");
  CHECK(record->time_taken_ns == 117'000'000);
  CHECK(record->triton_cache_hash == "ABC");
}

TEST_CASE("a file that was read is written with every field, unknown ones too") {
  temporary_directory directory;
  const auto file = directory / "abc.best_config";
  auto fields = json::parse(original);
  fields["later"] = {{"list", {1, 2.5, "x", nullptr, true}}, {"deep", json::object()}};
  fields["waves_per_eu"] = -1;
  write_text(file, fields.dump());
  const auto record = read_best_config(file);
  REQUIRE_MESSAGE(record, record.error().text());
  const auto copy = directory / "copy.best_config";
  REQUIRE(write_best_config(copy, *record));
  CHECK(json::parse(file_text(copy)) == fields);
  REQUIRE(write_best_config(file, decode_record(encode_record(*record)).value()));
  CHECK(json::parse(file_text(file)) == fields);
}

TEST_CASE("a damaged file is an error that names it") {
  temporary_directory directory;
  const auto file = directory / "abc.best_config";
  const std::string whole = original;
  for (std::size_t size = 0; size < whole.size(); ++size)
    check_damaged(file, whole.substr(0, size));
  check_damaged(file, "[]");
  check_damaged(file, "null");
  check_damaged(file, whole + "}");
  check_damaged(file, R"({"num_warps": 4})");
  check_damaged(file, R"({"configs_hash": "h", "num_warps": "4"})");
  check_damaged(file, R"({"configs_hash": "h", "configs_hash": "h"})");
  check_damaged(file, R"({"configs_hash": "h", "X": 99999999999999999999})");
  const auto none = read_best_config(directory / "none.best_config");
  CHECK(none.error().code() == errc::not_found);
  CHECK(none.error().text().find("none.best_config") != std::string::npos);
}

TEST_CASE("a value that JSON cannot express is not written") {
  autotune_record record;
  record.config.arguments = {{"bytes", binary{"\xff"}}};
  CHECK(best_config_text(record).error().code() == errc::unsupported);
  record.config.arguments = {{"text", "\xff"}};
  CHECK(best_config_text(record).error().code() == errc::unsupported);
  record.config.arguments = {{"time_taken_ms", 1}};
  CHECK(best_config_text(record).error().code() == errc::invalid_argument);
}

} // namespace best_config_test
