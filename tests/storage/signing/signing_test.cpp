// Keys that sign entries and bundles, and their file.
#include "storage/signing/signing.hpp"
#include "tests/support/hex.hpp"

#include <doctest/doctest.h>

namespace signing_test {

using namespace hearth;
using hearth::test::hex;
using namespace hearth::storage;

namespace {

const std::string secret_hex(64, 'a');

std::string why_not(std::string_view text) {
  const auto keys = parse_signing_keys(text);
  if (keys) return "parsed";
  CHECK(keys.error().code() == errc::malformed);
  CHECK(keys.error().text().find("aaaa") == std::string::npos);
  return keys.error().text();
}

} // namespace

TEST_CASE("signing: keys are read one a line and the first one signs") {
  const auto keys = parse_signing_keys("# a comment\n\n  2026-11\t" + secret_hex +
                                       "  \r\nold.key_1 00112233445566778899AABBCCDDEEFF");
  REQUIRE(keys);
  REQUIRE(keys->size() == 2);
  CHECK(keys->at(0).id == "2026-11");
  CHECK(keys->at(0).secret == std::string(32, '\xaa'));
  CHECK(keys->at(1).id == "old.key_1");
  CHECK(hex(keys->at(1).secret) == "00112233445566778899aabbccddeeff");
  CHECK(parse_signing_keys("")->empty());
  CHECK(parse_signing_keys("\n# nothing\n")->empty());
}

TEST_CASE("signing: a bad line is named by its number, never by its secret") {
  const auto good = "k " + secret_hex + "\n";
  CHECK(why_not(good + "lonely").find("line 2: ") == 0);
  CHECK(why_not(secret_hex).find("line 1: ") == 0);
  CHECK(why_not("\n\nbad:id " + secret_hex).find("line 3: ") == 0);
  CHECK(why_not(std::string(33, 'i') + " " + secret_hex).find("line 1: ") == 0);
  CHECK(why_not("k " + secret_hex + "a").find("line 1: the secret is not hex") == 0);
  CHECK(why_not("k " + secret_hex + "xy").find("line 1: the secret is not hex") == 0);
  CHECK(why_not("k " + secret_hex + " " + secret_hex).find("line 1: the secret is not hex") == 0);
  CHECK(why_not("k aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa").find("line 1: a secret has 16") == 0);
  CHECK(why_not("k " + std::string(2050, 'a')).find("line 1: a secret has 16") == 0);
  CHECK(why_not(good + good).find("line 2: that id came before") == 0);
}

TEST_CASE("signing: the HMAC equals an independent computation") {
  // python3 -c 'import hmac; print(hmac.new(b"s"*16,
  //   b"hearth-signature-1\x01\x02id" + bytes(range(32)), "sha256").hexdigest())'
  digest entry;
  for (std::size_t i = 0; i < entry.bytes.size(); ++i)
    entry.bytes[i] = static_cast<std::uint8_t>(i);
  const signing_key key{"id", std::string(16, 's')};
  CHECK(hex(sign_digest(entry, key)) ==
        "46848e25fa23cb68ff7f095b24a52546eeb83c27b1951ac454395a06d6609b94");
}

} // namespace signing_test
