#include "runtime/process/worker/trial_codec.hpp"

#include "messages/value.hpp"
#include "runtime/process/worker/job.hpp"

#include <doctest/doctest.h>

namespace trial_codec_test {

using namespace hearth;
using namespace hearth::worker;

namespace {

trial_request a_request() {
  trial_request request;
  request.library = "/cache/kernels.so";
  request.entry = "matmul";
  request.reference = "matmul_reference";
  request.tolerance = 0.5;
  request.buffers = {{element_type::f32, {2, 3}, false},
                     {element_type::u8, {}, false},
                     {element_type::i64, {7}, true}};
  request.sizes = {2, -3, INT64_MAX};
  request.seed = UINT64_MAX - 5;
  request.timing_ns = 20'000'000;
  return request;
}

} // namespace

TEST_CASE("a trial request is decoded as it was encoded") {
  auto asked = a_request();
  for (const double tolerance : {0.5, 0.0, 1.0, 1e-4, 1e300}) {
    asked.tolerance = tolerance;
    const auto read = decode_trial_request(encode_trial_request(asked));
    REQUIRE_MESSAGE(read, read.error().text());
    CHECK(read->library == asked.library);
    CHECK(read->entry == asked.entry);
    CHECK(read->reference == asked.reference);
    CHECK(read->tolerance == tolerance);
    CHECK(read->sizes == asked.sizes);
    CHECK(read->seed == asked.seed);
    CHECK(read->timing_ns == 20'000'000);
    REQUIRE(read->buffers.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(read->buffers[i].type == asked.buffers[i].type);
      CHECK(read->buffers[i].shape == asked.buffers[i].shape);
      CHECK(read->buffers[i].output == asked.buffers[i].output);
    }
  }
}

TEST_CASE("a trial request that is cut anywhere is malformed") {
  const auto bytes = encode_trial_request(a_request());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto read = decode_trial_request(bytes.substr(0, size));
    REQUIRE_FALSE(read);
    CHECK(read.error().code() == errc::malformed);
  }
}

TEST_CASE("a trial request with an unknown element type is malformed") {
  const auto decoded = decode_value(encode_trial_request(a_request()));
  auto members = *decoded->as<value::map>();
  auto& first = members["buffers"].as<value::array>()->front();
  for (const int type : {-1, 5, 256}) {
    (*first.as<value::map>())["type"] = type;
    CHECK_FALSE(decode_trial_request(encode(members)));
  }
  (*first.as<value::map>())["type"] = 4;
  CHECK(decode_trial_request(encode(members)));
}

TEST_CASE("a report contains the phase and the answer") {
  const trial_result result{trial_status::wrong, "output 0 [1] is 2", 12, 3};
  const auto report = decode_trial_report(std::string("\1\2\3") + encode_trial_result(result));
  CHECK(report.phase == trial_phase::entry);
  REQUIRE(report.answer);
  CHECK(report.answer->status == trial_status::wrong);
  CHECK(report.answer->reason == result.reason);
  CHECK(report.answer->time_ns == 12);
  CHECK(report.answer->rounds == 3);
}

TEST_CASE("a report without a complete answer has none") {
  CHECK(decode_trial_report("").phase == trial_phase::preparing);
  CHECK_FALSE(decode_trial_report("").answer);
  CHECK(decode_trial_report("\1\2").phase == trial_phase::reference);
  CHECK_FALSE(decode_trial_report("\1\2").answer);
  const auto whole = "\1\2\3\4" + encode_trial_result({trial_status::good, "", 5, 6});
  CHECK(decode_trial_report(whole).answer);
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_FALSE(decode_trial_report(whole.substr(0, size)).answer);
  CHECK_FALSE(decode_trial_report(whole + "noise").answer);
  CHECK_FALSE(decode_trial_report("noise" + whole).answer);
  CHECK_FALSE(decode_trial_report(encode(value::map{{"status", 9}})).answer);
}

TEST_CASE("a job is decoded as it was encoded and malformed when cut") {
  const job asked{1234, "/bin/sh", "/tmp", {"sh", "-c", "", "\xff"}, {"A=1", "B="}, {1, 2, 3, 4}};
  const auto bytes = encode_job(asked);
  const auto read = decode_job(bytes);
  REQUIRE(read);
  CHECK(read->host == 1234);
  CHECK(read->program == asked.program);
  CHECK(read->directory == asked.directory);
  CHECK(read->argv == asked.argv);
  CHECK(read->environment == asked.environment);
  CHECK(read->limits == asked.limits);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(decode_job(bytes.substr(0, size)));
}

} // namespace trial_codec_test
