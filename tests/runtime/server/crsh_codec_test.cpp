// The bytes of ccache's storage helper protocol.
#include "runtime/server/crsh/crsh_codec.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <string>

namespace crsh_codec_test {

using namespace hearth;
using namespace hearth::server;

namespace {

std::string number(std::uint64_t value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// All requests that are complete in the bytes, with what they need; none may begin earlier.
crsh_parsed parsed(const std::string& bytes) {
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto part = parse_crsh(std::string_view(bytes).substr(0, size));
    REQUIRE(part);
    REQUIRE_FALSE(*part);
  }
  const auto whole = parse_crsh(bytes + "more");
  REQUIRE(whole);
  REQUIRE(*whole);
  CHECK((*whole)->consumed == bytes.size());
  return **whole;
}

} // namespace

TEST_CASE("crsh: requests are complete with their last byte") {
  const std::string key("\0\x01\xff", 3);
  const auto get = parsed(std::string("\0\x03", 2) + key).request;
  CHECK(get.verb == crsh_verb::get);
  CHECK(get.key == key);
  CHECK(parsed("\x02\x01k").request.verb == crsh_verb::remove);
  CHECK(parsed("\x03").request.verb == crsh_verb::stop);
  CHECK(parsed("\x04").request.verb == crsh_verb::info);
  CHECK(parsed("\x05\x01k").request.verb == crsh_verb::exists);
  CHECK(parsed(std::string("\x05\0", 2)).request.key.empty());
  const auto longest = std::string(255, 'k');
  CHECK(parsed("\x05\xff" + longest).request.key == longest);
}

TEST_CASE("crsh: a put has flags and the length of its value") {
  const auto put = parsed("\x01\x01k" + std::string(1, '\0') + number(5)).request;
  CHECK(put.verb == crsh_verb::put);
  CHECK(put.key == "k");
  CHECK_FALSE(put.replaces);
  CHECK(put.value_bytes == 5);
  CHECK(parsed("\x01\x01k\x01" + number(0)).request.replaces);
  CHECK(parsed("\x01\x01k\xff" + number(UINT64_MAX)).request.value_bytes == UINT64_MAX);
  CHECK_FALSE(parsed("\x01\x01k\xfe" + number(0)).request.replaces); // other bits are ignored
}

TEST_CASE("crsh: a verb that is none is malformed") {
  CHECK(parse_crsh("\x06").error().code() == errc::malformed);
  CHECK(parse_crsh("GET / HTTP/1.1").error().code() == errc::malformed);
  CHECK(parse_crsh("\xff").error().code() == errc::malformed);
}

TEST_CASE("crsh: replies") {
  CHECK(crsh_greeting == std::string("\x01\x03\0\x01\x02", 5));
  CHECK(crsh_ok == std::string(1, '\0'));
  CHECK(crsh_no == "\x01");
  CHECK(crsh_ok_with_value(7) == std::string(1, '\0') + number(7));
  CHECK(crsh_error("bad") == "\x02\x03"
                             "bad");
  CHECK(crsh_error(std::string(300, 'x')) == "\x02\xff" + std::string(255, 'x'));
  CHECK(crsh_info("me") == "\x02me" + std::string(1, '\0'));
}

} // namespace crsh_codec_test
