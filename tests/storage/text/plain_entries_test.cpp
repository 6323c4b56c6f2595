// Entries as text of base64 pairs and as a msgpack map.
#include "storage/text/base64.hpp"
#include "storage/text/plain_entries.hpp"

#include <doctest/doctest.h>

namespace plain_entries_test {

using namespace hearth;
using namespace hearth::storage;

namespace {

std::string base64_of(const key& k) { return encode_base64(k.encoded()); }
std::string base64_of(const value& v) { return encode_base64(encode(v)); }

std::string pair_of(const key& k, const value& v) { return base64_of(k) + ',' + base64_of(v); }

// The error's code and text, or a note that there was none.
std::string why_not(std::string_view text) {
  const auto parsed = parse_pairs(text);
  return parsed ? "parsed" : parsed.error().to_string();
}

std::string why_no_map(std::string_view bytes) {
  const auto decoded = decode_map(bytes);
  return decoded ? "decoded" : decoded.error().to_string();
}

} // namespace

TEST_CASE("plain: base64 is the standard one and has one form") {
  // RFC 4648, section 10.
  const std::pair<std::string, std::string> known[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : known) {
    CHECK(encode_base64(bytes) == text);
    CHECK(decode_base64(text).value() == bytes);
  }
  std::string all;
  for (int i = 0; i < 256; ++i)
    all += static_cast<char>(i);
  CHECK(decode_base64(encode_base64(all)).value() == all);
  for (const auto* wrong : {"Zg", "Zg=", "Zg===", "Z===", "====", "Zh==", "Zm9=", "Zm 9v",
                            "Zg==Zg==", "Zm9v\n", "Zm-_", "=Zg="})
    CHECK_MESSAGE(!decode_base64(wrong), wrong);
}

TEST_CASE("plain: base64 of many megabytes equals that of its parts") {
  // Encoded 3 MiB at a time: tests around each border, and with every padding.
  constexpr std::size_t chunk = 3u << 20;
  std::string bytes;
  for (std::size_t i = 0; bytes.size() < 2 * chunk + 4; ++i)
    bytes += static_cast<char>((i * i + i / 251) % 256);
  for (const std::size_t size :
       {chunk - 1, chunk, chunk + 1, chunk + 2, 2 * chunk, 2 * chunk + 1}) {
    CAPTURE(size);
    const auto whole = bytes.substr(0, size);
    const auto text = encode_base64(whole);
    std::string of_parts;
    for (std::size_t at = 0; at < size; at += 3000)
      of_parts += encode_base64(std::string_view(whole).substr(at, 3000));
    CHECK(bool(text == of_parts)); // not printed: it is long
    CHECK(bool(decode_base64(text).value() == whole));
    auto wrong = text;
    wrong[4 * (size / 3) - 1] = '!';
    CHECK_FALSE(decode_base64(wrong));
    if (size > chunk)
      CHECK_FALSE(
          decode_base64(text.substr(0, 4 * chunk / 3 - 4) + "Zg==" + text.substr(4 * chunk / 3)));
  }
}

TEST_CASE("pairs are read back, and white space, empty pairs and repeats have no effect") {
  const plain_entries entries{
      {key("name"), value{7}},
      {key::tuple({"a", key::integer(-1), key::bytes("\xff")}), value{value::array{1, "x", {}}}},
      {key::integer(3), value{}}};
  const auto text = print_pairs(entries);
  const auto parsed = parse_pairs(text);
  REQUIRE(parsed);
  REQUIRE(parsed->size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK((*parsed)[i].name == entries[i].name);
    CHECK((*parsed)[i].content == entries[i].content);
  }
  CHECK(parse_pairs("")->empty());
  CHECK(parse_pairs(" \t\n")->empty());
  CHECK(parse_pairs(" ; ;; ")->empty());
  const auto one = pair_of("k", 1);
  CHECK(parse_pairs(one + ";")->size() == 1);
  CHECK(parse_pairs(" ;\n " + base64_of(key("k")) + " \t,\r\n " + base64_of(value{1}) + " ; ")
            ->size() == 1);
  CHECK(parse_pairs(one + ";" + one + ";" + one)->size() == 1);
}

TEST_CASE("every mistake names the pair and the reason") {
  const auto good = pair_of("k", 1);
  CHECK(why_not(good + ";abcd") == "malformed: pair 2: no comma between key and value");
  CHECK(why_not("!,AQ==") == "malformed: pair 1: key: base64 of 1 characters; padded base64 has a "
                             "multiple of 4");
  CHECK(why_not("AQ==,AQ=!") ==
        "malformed: pair 1: value: base64 with a wrong character, or bits left over at its end");
  CHECK(why_not(good + ";;" + base64_of(key("x")) + ",") == "malformed: pair 3: value: cut short");
  CHECK(why_not("wA==," + base64_of(value{1})) ==
        "invalid_key: pair 1: key: a key is a str, int, bin or an array of keys, at most 32 deep");
  CHECK(why_not(base64_of(key("k")) + "," + encode_base64("\x92\x01")) ==
        "malformed: pair 1: value: cut short");
  CHECK(why_not(base64_of(key("k")) + "," + encode_base64("\x01\x02")) ==
        "malformed: pair 1: value: 1 bytes left over after the value");
  CHECK(why_not(good + "," + base64_of(value{1})).starts_with("malformed: pair 1: value: base64"));
  CHECK(why_not(good + ";" + pair_of("k", 2)) ==
        "invalid_value: pair 2: key \"k\" has another value before");
}

TEST_CASE("A3 defect: separators inside the bytes split nothing") {
  const plain_entries entries{{key::bytes(";,;"), value{binary{",;,;"}}},
                              {key("a;b,c"), value{";"}}};
  const auto parsed = parse_pairs(print_pairs(entries));
  REQUIRE(parsed);
  REQUIRE(parsed->size() == 2);
  CHECK((*parsed)[0].content == entries[0].content);
  CHECK((*parsed)[1].name == entries[1].name);
}

TEST_CASE("a map is read back, in one form") {
  plain_entries entries;
  for (int i = 0; i < 70'000; i += 1)
    entries.push_back({key::integer(i), value{i}});
  entries.push_back({key::tuple({"a", "b"}), value{value::map{{"x", 1}}}});
  auto other_order = entries;
  std::swap(other_order.front(), other_order.back());
  const auto bytes = encode_map(entries);
  CHECK(bytes == encode_map(other_order));
  const auto decoded = decode_map(bytes);
  REQUIRE(decoded);
  CHECK(decoded->size() == entries.size());
  CHECK(encode_map(*decoded) == bytes);
  CHECK(decode_map("\x80")->empty());
}

TEST_CASE("every malformed map is the typed error") {
  CHECK(why_no_map("") == "malformed: empty; a msgpack map is expected");
  CHECK(why_no_map("\x01") == "malformed: not a msgpack map");
  CHECK(why_no_map("\xde\x01") == "malformed: cut short in the map's header");
  CHECK(why_no_map("\x81\xc0\x01") ==
        "invalid_key: pair 1: key: a key is a str, int, bin or an array of keys, at most 32 deep");
  CHECK(why_no_map("\x82\x01\x01\x01\x01") == "malformed: pair 2: key 1 came before");
  CHECK(why_no_map(std::string("\x80\x01")) == "malformed: 1 bytes left over after the map");
  CHECK(why_no_map("\xdf\xff\xff\xff\xff\x01\x01") ==
        "malformed: pair 2: key: cut short or not msgpack");
  const auto whole = encode_map({{key("key"), value{value::array{1, "text", 2.5}}}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto decoded = decode_map(std::string_view(whole).substr(0, size));
    REQUIRE_FALSE(decoded);
    CHECK(decoded.error().code() == errc::malformed);
  }
}

} // namespace plain_entries_test
