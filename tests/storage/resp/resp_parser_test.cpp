// RESP2 and RESP3 from any server, received in pieces of any size.
#include "storage/resp/resp_parser.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <random>
#include <string>
#include <vector>

namespace resp_parser_test {

using namespace hearth::storage;
using namespace std::string_literals;
using outcome = resp_parser::outcome;
using kind = resp_value::kind;

namespace {

// A value as text, for comparison and messages.
std::string shown(const resp_value& v) {
  std::string text;
  const auto items = [&](const char* name) {
    text = name;
    for (const auto& item : v.items)
      text += " " + shown(item);
    return text + ")";
  };
  switch (v.type) {
  case kind::null: return "null";
  case kind::text: return "text:" + v.text;
  case kind::error: return "error:" + v.text;
  case kind::integer: return "int:" + std::to_string(v.integer);
  case kind::bytes: return "bytes:" + v.text;
  case kind::real: return "real:" + std::to_string(v.real);
  case kind::boolean: return v.integer ? "true" : "false";
  case kind::big_number: return "big:" + v.text;
  case kind::array: return items("(array");
  case kind::map: return items("(map");
  case kind::set: return items("(set");
  case kind::push: return items("(push");
  }
  return "?";
}

// Parses the bytes in pieces of `piece`; returns all values and then the error, if there is one.
std::vector<std::string> parse_all(std::string_view bytes, std::size_t piece, resp_limits limits,
                                   resp_side from) {
  resp_parser parser(limits, from);
  std::vector<std::string> seen;
  resp_value value;
  while (!bytes.empty()) {
    auto part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    for (;;) {
      const auto got = parser.take(part, value);
      if (got == outcome::value) {
        seen.push_back(shown(value));
      } else if (got == outcome::broken) {
        seen.push_back("broken: "s + parser.problem());
        return seen;
      } else {
        break;
      }
    }
  }
  if (!parser.is_between_values()) seen.push_back("more");
  return seen;
}

// The same for requests, by `next_request`.
std::vector<std::string> parse_requests(std::string_view bytes, std::size_t piece,
                                        resp_limits limits) {
  resp_parser parser(limits, resp_side::client);
  std::vector<std::string> seen, words;
  while (!bytes.empty()) {
    const auto room = parser.room();
    const auto count = std::min({room.size(), piece, bytes.size()});
    std::copy_n(bytes.data(), count, room.data());
    bytes.remove_prefix(count);
    parser.filled(count);
    for (;;) {
      const auto got = parser.next_request(words);
      if (got == outcome::more) break;
      if (got == outcome::broken) {
        seen.push_back("broken: "s + parser.problem());
        return seen;
      }
      auto& text = seen.emplace_back("(array");
      for (const auto& word : words)
        text += " bytes:" + word;
      text += ')';
    }
  }
  if (!parser.is_between_values()) seen.push_back("more");
  return seen;
}

// The same in pieces of every size, which must make no difference.
std::vector<std::string> parse(std::string_view bytes, resp_limits limits = {},
                               resp_side from = resp_side::server) {
  const auto whole = parse_all(bytes, bytes.size(), limits, from);
  for (std::size_t piece = 1; piece < std::min<std::size_t>(bytes.size(), 40); ++piece) {
    CHECK(parse_all(bytes, piece, limits, from) == whole);
    if (from == resp_side::client) CHECK(parse_requests(bytes, piece, limits) == whole);
  }
  if (from == resp_side::client) CHECK(parse_requests(bytes, bytes.size(), limits) == whole);
  return whole;
}

using seen = std::vector<std::string>;

seen requests(std::string_view bytes) { return parse(bytes, {}, resp_side::client); }

bool is_broken(const seen& all) { return !all.empty() && all.back().starts_with("broken: "); }

} // namespace

TEST_CASE("resp: each kind of value") {
  CHECK(parse("+OK\r\n") == seen{"text:OK"});
  CHECK(parse("+\r\n") == seen{"text:"});
  CHECK(parse("-ERR unknown command\r\n") == seen{"error:ERR unknown command"});
  CHECK(parse(":-42\r\n:+7\r\n:9223372036854775807\r\n") ==
        seen{"int:-42", "int:7", "int:9223372036854775807"});
  CHECK(parse("$5\r\nhe\r\no\r\n$0\r\n\r\n$-1\r\n") == seen{"bytes:he\r\no", "bytes:", "null"});
  CHECK(parse("*-1\r\n_\r\n") == seen{"null", "null"});
  CHECK(parse("#t\r\n#f\r\n") == seen{"true", "false"});
  CHECK(parse(",1.5\r\n,-1e3\r\n,inf\r\n,-inf\r\n") ==
        seen{"real:1.500000", "real:-1000.000000", "real:inf", "real:-inf"});
  CHECK(parse("(-3492890328409238509324850943850943825024385\r\n") ==
        seen{"big:-3492890328409238509324850943850943825024385"});
  CHECK(parse("!8\r\nERR a\r\nb\r\n") == seen{"error:ERR a\r\nb"});
  CHECK(parse("=15\r\ntxt:Some string\r\n=4\r\nmkd:\r\n") == seen{"bytes:Some string", "bytes:"});
}

TEST_CASE("resp: aggregates, in each other, empty, and with attributes beside values") {
  CHECK(parse("*3\r\n$1\r\na\r\n*2\r\n:1\r\n$-1\r\n+b\r\n*0\r\n") ==
        seen{"(array bytes:a (array int:1 null) text:b)", "(array)"});
  CHECK(parse("%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n#t\r\n") ==
        seen{"(map text:a int:1 text:b (array true))"});
  CHECK(parse("~2\r\n:1\r\n:2\r\n>2\r\n+message\r\n*0\r\n%0\r\n") ==
        seen{"(set int:1 int:2)", "(push text:message (array))", "(map)"});
  CHECK(parse("|1\r\n+ttl\r\n:3600\r\n*2\r\n|0\r\n:1\r\n|1\r\n+x\r\n*1\r\n:9\r\n:2\r\n") ==
        seen{"(array int:1 int:2)"});
}

TEST_CASE("resp: an incomplete value needs more bytes") {
  const auto whole = "*2\r\n$5\r\nhello\r\n%1\r\n+a\r\n:1\r\n"s;
  for (std::size_t size = 1; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK(parse_all(whole.substr(0, size), size, {}, resp_side::server) == seen{"more"});
  }
}

TEST_CASE("resp: bytes that are not RESP break the parser for good") {
  for (const auto& bytes : {"\r\n"s,
                            "HTTP/1.1 400 Bad Request\r\n"s,
                            "+OK\n"s,
                            "+O\rK\r\n"s,
                            ":\r\n"s,
                            ":1a\r\n"s,
                            ":+-1\r\n"s,
                            ": 1\r\n"s,
                            ":9223372036854775808\r\n"s,
                            "$\r\n"s,
                            "$-2\r\n"s,
                            "$1\r\nab\r\n"s,
                            "$1\r\na\n\r"s,
                            "*-2\r\n"s,
                            "*x\r\n"s,
                            "%-1\r\n"s,
                            "!-1\r\n"s,
                            "=-1\r\n"s,
                            "=3\r\ntxt\r\n"s,
                            "=4\r\ntxt.\r\n"s,
                            "#\r\n"s,
                            "#T\r\n"s,
                            "_x\r\n"s,
                            ",\r\n"s,
                            ",1.5x\r\n"s,
                            "(\r\n"s,
                            "(12a\r\n"s,
                            "$?\r\n"s,
                            "*?\r\n"s,
                            ".\r\n"s,
                            "*2\r\n:1\r\n\r\n"s,
                            "\0\0\r\n"s}) {
    CAPTURE(bytes);
    CHECK(is_broken(parse(bytes + "+OK\r\n")));
  }
}

TEST_CASE(
    "resp: bytes that are not RESP break the parser at the first one, not at the end of the line") {
  CHECK(is_broken(parse("\x16\x03\x01 hello")));
  CHECK(is_broken(parse("+OK\r\nH")));
  CHECK(parse("+OK") == seen{"more"});
  CHECK(parse("H", {}, resp_side::client) == seen{"more"});
}

TEST_CASE("resp: limits hold to the byte, for any announced length") {
  resp_limits limits;
  limits.bytes = 10;
  CHECK(parse("$10\r\n0123456789\r\n$10\r\n0123456789\r\n", limits).size() == 2);
  CHECK(is_broken(parse("$11\r\n", limits)));
  CHECK(is_broken(parse("$9223372036854775807\r\n", limits)));
  CHECK(is_broken(parse("$18446744073709551617\r\n", limits)));
  CHECK(is_broken(parse("*2\r\n$6\r\n012345\r\n$6\r\n", limits)));
  CHECK(is_broken(parse("*2\r\n+012345\r\n+012345\r\n", limits)));
  limits = {};
  limits.items = 6;
  CHECK(parse("*6\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n", limits).size() == 1);
  CHECK(is_broken(parse("*7\r\n", limits)));
  CHECK(is_broken(parse("%4\r\n", limits)));
  CHECK(is_broken(parse("%9223372036854775807\r\n", limits)));
  CHECK(is_broken(parse("*3\r\n*2\r\n:1\r\n:1\r\n*2\r\n", limits)));
  limits = {};
  limits.depth = 2;
  CHECK(parse("*1\r\n*1\r\n:1\r\n", limits) == seen{"(array (array int:1))"});
  CHECK(is_broken(parse("*1\r\n*1\r\n*0\r\n", limits)));
  limits = {};
  limits.line_bytes = 8;
  CHECK(parse("+1234567\r\n", limits) == seen{"text:1234567"});
  CHECK(is_broken(parse("+12345678\r\n", limits)));
  CHECK(is_broken(parse("+1234567890", limits)));
}

TEST_CASE("resp: endlessly nested arrays are broken at the limit, not at the stack's") {
  std::string bytes;
  for (int i = 0; i < 100000; ++i)
    bytes += "*1\r\n";
  CHECK(is_broken(parse_all(bytes, 1000, {}, resp_side::server)));
}

TEST_CASE("resp: a large bulk string is received at its final place") {
  constexpr std::size_t size = 10u << 20;
  std::string payload(size, '\0');
  std::mt19937 random(1);
  std::generate(payload.begin(), payload.end(), [&] { return static_cast<char>(random()); });
  const auto bytes = "$" + std::to_string(size) + "\r\n" + payload + "\r\n+OK\r\n";
  resp_parser parser;
  resp_value value;
  std::size_t at = 0;
  std::size_t through_buffer = 0;
  while (parser.next(value) == outcome::more) {
    REQUIRE(at < bytes.size());
    const auto room = parser.room();
    const auto count = std::min({room.size(), bytes.size() - at, std::size_t{100000}});
    if (room.size() <= 64u << 10) through_buffer += count;
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), count, room.begin());
    at += count;
    parser.filled(count);
  }
  CHECK(value.text == payload);
  CHECK(through_buffer < 300000);
  auto rest = std::string_view(bytes).substr(at);
  CHECK(parser.take(rest, value) == outcome::value);
  CHECK(shown(value) == "text:OK");
}

TEST_CASE("resp: an announced length takes little memory before its bytes are there") {
  resp_parser parser;
  resp_value value;
  std::string_view announced = "$536870912\r\n";
  REQUIRE(parser.take(announced, value) == outcome::more);
  CHECK(parser.room().size() <= 4u << 20);
}

TEST_CASE("resp: the size of a receive follows the size of values, within bounds") {
  resp_parser parser;
  resp_value value;
  const auto room_after = [&](std::size_t bytes) {
    const auto reply = "$" + std::to_string(bytes) + "\r\n" + std::string(bytes, 'v') + "\r\n";
    std::string_view rest = reply;
    REQUIRE(parser.take(rest, value) == outcome::value);
    REQUIRE(rest.empty());
    REQUIRE(parser.next(value) == outcome::more);
    return parser.room().size();
  };
  const auto usual = parser.room().size();
  CHECK(room_after(1000) == usual);
  CHECK(room_after(10000) == 40000);
  CHECK(room_after(usual) == 4 * usual);
  CHECK(room_after(1000000) == 4 * usual);
  CHECK(room_after(1) == usual);
}

TEST_CASE("resp: there is room behind the rest of a large piece when values become small") {
  const std::string large(20000, 'v');
  std::string bytes = "$20000\r\n" + large + "\r\n$20000\r\n" + large + "\r\n";
  std::size_t values = 2;
  for (; bytes.size() < 60000; ++values)
    bytes += "$1\r\nv\r\n";
  bytes += "$12";
  resp_parser parser;
  resp_value value;
  auto rest = std::string_view(bytes);
  std::size_t got = 0;
  while (parser.take(rest, value) == outcome::value)
    ++got;
  CHECK(got == values);
  CHECK(parser.room().size() > 16000);
  const auto last = "\r\n" + std::string(12, 'v') + "\r\n";
  rest = last;
  REQUIRE(parser.take(rest, value) == outcome::value);
  CHECK(value.text == std::string(12, 'v'));
}

TEST_CASE("resp: random values in random pieces are read correctly") {
  std::mt19937 random(7);
  const auto pick = [&](std::size_t below) { return random() % below; };
  std::string bytes;
  seen expected;
  for (int i = 0; i < 300; ++i) {
    const auto size = pick(4) == 0 ? pick(200000) : pick(50);
    std::string text(size, '\0');
    std::generate(text.begin(), text.end(), [&] { return static_cast<char>('a' + pick(26)); });
    bytes +=
        "*2\r\n:" + std::to_string(i) + "\r\n$" + std::to_string(size) + "\r\n" + text + "\r\n";
    expected.push_back("(array int:" + std::to_string(i) + " bytes:" + text + ")");
  }
  resp_parser parser;
  seen got;
  resp_value value;
  for (std::string_view rest = bytes; !rest.empty();) {
    auto part = rest.substr(0, 1 + pick(pick(2) == 0 ? 20 : 100000));
    rest.remove_prefix(part.size());
    while (parser.take(part, value) == outcome::value)
      got.push_back(shown(value));
  }
  CHECK(got == expected);
  CHECK(parser.is_between_values());
}

TEST_CASE("resp: requests are arrays of bulk strings") {
  CHECK(requests("*2\r\n$3\r\nGET\r\n$3\r\na\r\n\r\n*1\r\n$4\r\nPING\r\n") ==
        seen{"(array bytes:GET bytes:a\r\n)", "(array bytes:PING)"});
  CHECK(requests("*0\r\n*-1\r\n\r\n*1\r\n$0\r\n\r\n") == seen{"(array bytes:)"});
  for (const auto& bytes : {"*1\r\n:1\r\n"s, "*1\r\n*1\r\n"s, "*1\r\n$-1\r\n"s, "*1\n$1\r\na\r\n"s,
                            "*1\r\n$1\na\r\n"s, "*x\r\n"s, "*99999999999\r\n"s, "*1\r\n\r\n"s}) {
    CAPTURE(bytes);
    CHECK(is_broken(requests(bytes)));
  }
}

TEST_CASE("resp: whole requests that look short are read as all others") {
  const auto parse_request = [](const std::string& bytes, resp_limits limits = {}) {
    return parse(bytes, limits, resp_side::client);
  };
  const std::string get = "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n";
  CHECK(parse_request(get + get + "PING\r\n" + get).size() == 4);
  const auto long_word = std::string(9'999, 'x'), longer_word = std::string(10'000, 'x');
  CHECK(parse_request("*1\r\n$9999\r\n" + long_word + "\r\n*1\r\n$10000\r\n" + longer_word +
                      "\r\n" + get) == seen{"(array bytes:" + long_word + ")",
                                            "(array bytes:" + longer_word + ")",
                                            "(array bytes:GET bytes:k)"});
  CHECK(parse_request("*1\r\n$0\r\n\r\n") == seen{"(array bytes:)"});
  CHECK(parse_request("*0\r\n*-1\r\n" + get).size() == 1);
  for (const char* broken :
       {"*x\r\n", "*1 \r\n", "*1\n$1\r\nk\r\n", "*1\r\n$1\r\nkk\r\n", "*1\r\n$-1\r\n",
        "*1\r\n:1\r\n", "*1\r\n$1x\r\nk\r\n", "*1\r\n$\r\nk\r\n"}) {
    CAPTURE(broken);
    const auto all = parse_request(get + broken + get);
    REQUIRE(all.size() == 2);
    CHECK(all[1].starts_with("broken: "));
  }
  resp_limits small;
  small.bytes = 4;
  small.items = 2;
  CHECK(
      parse_request(get + "*2\r\n$3\r\nGET\r\n$2\r\nkk\r\n", small).back().starts_with("broken: "));
  CHECK(parse_request("*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n", small)
            .back()
            .starts_with("broken: "));
  std::string many = "*65\r\n";
  for (int i = 0; i < 65; ++i)
    many += "$1\r\nx\r\n";
  CHECK(parse_request(many + get).size() == 2);
}

TEST_CASE("resp: requests may be typed lines") {
  CHECK(
      requests("PING\r\nset a  1\n\r\n\n GET\ta \r\n") ==
      seen{"(array bytes:PING)", "(array bytes:set bytes:a bytes:1)", "(array bytes:GET bytes:a)"});
  CHECK(requests(R"(SET "a b\x41\n\"" 'c\'\n' x"y")"
                 "\r\n") == seen{"(array bytes:SET bytes:a bA\n\" bytes:c'\\n bytes:xy)"});
  CHECK(requests("GET \"\"\r\n") == seen{"(array bytes:GET bytes:)"});
  for (const auto& bytes : {"GET \"a\r\n"s, "GET 'a\r\n"s, "GET \"a\"b\r\n"s, "GET \"\\\r\n"s}) {
    CAPTURE(bytes);
    CHECK(is_broken(requests(bytes)));
  }
}

} // namespace resp_parser_test
