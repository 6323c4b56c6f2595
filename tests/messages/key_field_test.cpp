#include "messages/key_field.hpp"

#include "messages/explain.hpp"
#include "messages/key_builder.hpp"
#include "tests/support/hex.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <map>
#include <random>

namespace key_field_test {

using namespace hearth;
using hearth::test::hex;

namespace {

tensor_field small_tensor() {
  tensor_field t;
  t.dtype = "f32";
  t.shape = {std::int64_t{2}, std::string("s0")};
  t.strides = {std::string("s0"), std::int64_t{1}};
  return t;
}

// A field of any kind; the same state of `random` gives the same field.
key_field random_field(std::mt19937& random, int depth = 0) {
  const auto text = [&] { return std::string(1, static_cast<char>('a' + random() % 4)); };
  const auto items = [&] {
    key_field::list all;
    for (auto i = random() % 4; i > 0; --i)
      all.push_back(random_field(random, depth + 1));
    return all;
  };
  switch (random() % (depth < 4 ? 16 : 6)) {
  case 0: return {};
  case 1: return random() % 2 == 0;
  case 2: return static_cast<std::int64_t>(random() % 5);
  case 3: return static_cast<double>(random() % 5);
  case 4: return text();
  case 5: return key_field::bytes{text()};
  case 6: return items();
  case 7: return key_field::set_of(items());
  case 8: {
    key_field::map members;
    for (auto i = random() % 4; i > 0; --i)
      members.insert_or_assign(text(), random_field(random, depth + 1));
    return members;
  }
  case 9: {
    auto t = small_tensor();
    t.shape[0] = static_cast<std::int64_t>(random() % 3);
    t.requires_grad = random() % 2;
    if (random() % 2) t.storage_bytes = random() % 3;
    return t;
  }
  case 10: return constant_field{small_tensor(), sha256(text()), random() % 3};
  case 11: return symbol_field{text()};
  case 12: return *key_field::source(text() + "1" + text(), {"[0-9]"});
  case 13: return file_field{sha256(text()), random() % 3};
  case 14: return tree_field{{{text(), {sha256(text()), 1}}, {text(), {sha256(text()), 1}}}};
  default: return unsupported_field{text()};
  }
}

} // namespace

// The right-hand sides were written by hand from docs/keys.md.
TEST_CASE("every kind has the documented encoding") {
  CHECK(hex(encode(key_field{})) == "9100");
  CHECK(hex(encode(key_field(true))) == "9201c3");
  CHECK(hex(encode(key_field(-1))) == "9202ff");
  CHECK(hex(encode(key_field(std::int64_t{300}))) == "9202cd012c");
  CHECK(hex(encode(key_field(1.0))) == "9203cb3ff0000000000000");
  CHECK(hex(encode(key_field(-0.0))) == "9203cb8000000000000000");
  CHECK(hex(encode(key_field(std::nan("7")))) == "9203cb7ff8000000000000");
  CHECK(hex(encode(key_field(-std::numeric_limits<double>::quiet_NaN()))) ==
        "9203cb7ff8000000000000");
  CHECK(hex(encode(key_field("ab"))) == "9204a26162");
  CHECK(hex(encode(key_field(key_field::bytes{"ab"}))) == "9205c4026162");
  CHECK(hex(encode(key_field(key_field::list{1, "a"}))) == "9306"
                                                           "920201"
                                                           "9204a161");
  CHECK(hex(encode(key_field::set_of({"a", 1, "a"}))) == "9307"
                                                         "920201"
                                                         "9204a161");
  CHECK(hex(encode(key_field(key_field::map{{"b", 1}, {"a", {}}}))) == "9508"
                                                                       "a161"
                                                                       "9100"
                                                                       "a162"
                                                                       "920201");
  CHECK(hex(encode(key_field(small_tensor()))) == "9809"
                                                  "a3663332"
                                                  "9202a27330"
                                                  "92a2733001"
                                                  "a3637075"
                                                  "a773747269646564"
                                                  "c2"
                                                  "c0");
  const auto zero = std::string(64, '0');
  CHECK(hex(encode(key_field(constant_field{small_tensor(), digest{}, 8}))) == "9a0a"
                                                                               "a3663332"
                                                                               "9202a27330"
                                                                               "92a2733001"
                                                                               "a3637075"
                                                                               "a773747269646564"
                                                                               "c2"
                                                                               "c0"
                                                                               "c420" +
                                                                                   zero + "08");
  CHECK(hex(encode(key_field(symbol_field{"s0"}))) == "920ba27330");
  CHECK(hex(encode(*key_field::source("k7()", {"[0-9]"}))) == "930c"
                                                              "a36b2829"
                                                              "a55b302d395d");
  CHECK(hex(encode(key_field(file_field{digest{}, 5}))) == "930dc420" + zero + "05");
  CHECK(hex(encode(key_field(tree_field{{{"a", {digest{}, 5}}}}))) == "940e"
                                                                      "a161"
                                                                      "c420" +
                                                                          zero + "05");
  CHECK(hex(encode(key_field(unsupported_field{"x"}))) == "920fa178");
}

TEST_CASE("a key is the digest of its fields whatever their order") {
  const auto key = key_builder().add("op", "add").add("n", 3).build();
  REQUIRE(key);
  // SHA-256 of 95 08 a1 "n" 92 02 03 a2 "op" 92 04 a3 "add", computed elsewhere.
  CHECK(key->identity.hex() == "cf0121f69d6b9b94fa32ec6d800071c201fa2adccdea305aa6c65e79ecc878a8");
  CHECK(key->text() == "fz4asd5u5nonzj6rs5rwyaadryia7ukw4zxvdawvgyzpht3gipcu");
  CHECK(key->text() == key_builder().add("n", 3).add("op", "add").build()->text());
  CHECK(key->text() != key_builder().add("n", 3.0).add("op", "add").build()->text());
  CHECK_FALSE(key->bypass);
}

TEST_CASE("a field that comes twice or has no name is refused") {
  CHECK(key_builder().add("a", 1).add("a", 1).build().error().to_string() ==
        "invalid_argument: the field 'a' of a key was added twice");
  CHECK(key_builder().add("", 1).build().error().code() == errc::invalid_argument);
  CHECK(key_of_details(key_field::list{}).error().code() == errc::invalid_argument);
  key_field deep = 1;
  for (int i = 0; i < 100; ++i)
    deep = key_field::list{deep};
  CHECK(key_builder().add("deep", deep).build().error().code() == errc::too_large);
}

TEST_CASE("a value that no key can hold bypasses the cache with its reason") {
  const auto key =
      key_builder()
          .add("args", key_field::list{1, key_field::map{{"fn", unsupported_field{"a callable"}}}})
          .add("z", unsupported_field{"later"})
          .build();
  REQUIRE(key);
  CHECK(key->bypass == "args[1].fn: a callable");
}

TEST_CASE("patterns remove running indices from sources") {
  const auto one =
      key_field::source("kernel_idx = 17\nrun(k_17)", {"kernel_idx = \\d+\n", "_\\d+"});
  const auto other =
      key_field::source("kernel_idx = 4\nrun(k_4)", {"kernel_idx = \\d+\n", "_\\d+"});
  REQUIRE(one);
  CHECK(*one == *other);
  CHECK(one->as<source_field>()->text == "run(k)");
  CHECK(*one != *key_field::source("run(k)"));
  CHECK(key_field::source("x", {"("}).error().to_string() ==
        "malformed: the pattern '(': missing ): (");
}

TEST_CASE("details come back from their canonical bytes only") {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    const auto original = random_field(random);
    const auto bytes = encode(original);
    const auto read = decode_field(bytes);
    REQUIRE(read);
    CHECK(*read == original);
    auto damaged = bytes;
    damaged[random() % damaged.size()] = static_cast<char>(random() % 256);
    if (const auto other = decode_field(damaged)) CHECK(encode(*other) == damaged);
    CHECK_FALSE(decode_field(bytes.substr(0, bytes.size() - 1)));
  }
  CHECK_FALSE(decode_field("\x93\x07\x92\x02\x02\x92\x02\x01")); // a set out of order
  CHECK_FALSE(decode_field("\x92\x02\xd0\x01"));                 // a longer form of a number
}

TEST_CASE("order matters in lists and nowhere else") {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    key_field::list items;
    std::vector<std::pair<std::string, key_field>> members;
    for (int i = 0; i < 6; ++i) {
      items.push_back(random_field(random));
      members.emplace_back("field" + std::to_string(i), random_field(random));
    }
    auto shuffled = items;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    auto mixed = members;
    std::shuffle(mixed.begin(), mixed.end(), random);
    CHECK(encode(key_field::set_of(items)) == encode(key_field::set_of(shuffled)));
    CHECK((key_field(items) == key_field(shuffled)) == (items == shuffled));
    key_builder a, b;
    for (const auto& [name, content] : members)
      a.add(name, content);
    for (const auto& [name, content] : mixed)
      b.add(name, content);
    CHECK(a.build()->text() == b.build()->text());
  }
}

// Each structure also has a description, which is made independently of its encoding.
TEST_CASE("different details never share bytes") {
  std::mt19937 random(11);
  std::map<std::string, key_field> seen;
  std::size_t met_again = 0;
  for (int round = 0; round < 20000; ++round) {
    const auto one = random_field(random, 2);
    const auto [at, is_new] = seen.emplace(encode(one), one);
    if (is_new) continue;
    ++met_again;
    CHECK(at->second.kind() == one.kind());
    CHECK(at->second.describe(100000) == one.describe(100000));
  }
  CHECK(met_again > 1000);
  CHECK(seen.size() > 1000);
}

TEST_CASE("debug lines have one hash for each field and item") {
  const key_field details = key_field::map{{"args", key_field::list{1, "x"}},
                                           {"empty", key_field::list{}},
                                           {"opt level", 3},
                                           {"opts", key_field::map{{"fast", true}}}};
  const auto lines = debug_lines(details);
  REQUIRE(lines.size() == 5);
  const auto hash = [](const key_field& part) {
    return sha256(encode(part)).base32().substr(0, 16);
  };
  CHECK(lines[0] == "[" + hash(1) + "] args[0]: 1");
  CHECK(lines[1] == "[" + hash("x") + "] args[1]: \"x\"");
  CHECK(lines[2] == "[" + hash(key_field::list{}) + "] empty: []");
  CHECK(lines[3] == "[" + hash(3) + "] \"opt level\": 3");
  CHECK(lines[4] == "[" + hash(true) + "] opts.fast: true");
}

TEST_CASE("details are described in one line of bounded length") {
  CHECK(key_field("a\n\"b\"").describe() == "\"a\\n\\\"b\\\"\"");
  CHECK(key_field(1.0).describe() == "1.0");
  CHECK(key_field(small_tensor()).describe() == "f32[2, s0] strides [s0, 1] on cpu");
  std::mt19937 random(13);
  for (int round = 0; round < 500; ++round) {
    const auto text = random_field(random).describe(40);
    CHECK(text.size() <= 43);
    CHECK(text.find('\n') == std::string::npos);
  }
  CHECK(key_field(std::string(100, 'x') + "ä").describe(20).size() <= 23);
}

} // namespace key_field_test
