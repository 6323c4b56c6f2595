#include "messages/guard.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

namespace guard_test {

using namespace hearth;

namespace {

const std::string source_folder = HEARTH_SOURCE_DIR;

std::string parse_error(std::string_view text) {
  const auto parsed = guard_expression::parse(text);
  return parsed ? "" : parsed.error().to_string();
}

// The value, or the error.
std::string value_of(std::string_view text, const symbol_values& symbols = {}) {
  const auto parsed = guard_expression::parse(text);
  if (!parsed) return parsed.error().to_string();
  const auto value = parsed->evaluate_value(symbols);
  return value ? std::to_string(*value) : value.error().to_string();
}

// One line of the output of tests/support/guard_oracle.py.
struct oracle_case {
  std::string text;
  symbol_values symbols;
  std::string outcome;
};

std::string unescape(std::string_view escaped) {
  std::string text;
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    if (escaped[i] != '\\' || i + 1 == escaped.size()) {
      text += escaped[i];
      continue;
    }
    const char c = escaped[++i];
    text += c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
  }
  return text;
}

oracle_case read_case(const std::string& line) {
  const auto first = line.find('\t');
  const auto second = line.find('\t', first + 1);
  REQUIRE(second != std::string::npos);
  oracle_case read{unescape(line.substr(0, first)), {}, line.substr(second + 1)};
  std::istringstream symbols(line.substr(first + 1, second - first - 1));
  for (std::string symbol; std::getline(symbols, symbol, ';');) {
    const auto equals = symbol.find('=');
    REQUIRE(equals != std::string::npos);
    std::int64_t value = 0;
    const auto* end = symbol.data() + symbol.size();
    REQUIRE(std::from_chars(symbol.data() + equals + 1, end, value).ptr == end);
    read.symbols[symbol.substr(0, equals)] = value;
  }
  return read;
}

// Our outcome in the oracle's words.
std::string outcome_of(const oracle_case& which) {
  const auto parsed = guard_expression::parse(which.text);
  if (!parsed) return std::string(to_string(parsed.error().code()));
  const auto value = parsed->evaluate_value(which.symbols);
  const auto truth = parsed->evaluate(which.symbols);
  if (value && truth) return *truth == (*value != 0) ? std::to_string(*value) : "two answers";
  if (value || truth || value.error() != truth.error()) return "two answers";
  switch (value.error().code()) {
  case errc::division_by_zero: return "zero";
  case errc::unknown_name: return "name";
  case errc::invalid_argument: return "real";
  default: return std::string(to_string(value.error().code()));
  }
}

// Checks every line and returns the number of cases.
int check_cases(std::istream& lines) {
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    const auto which = read_case(line);
    const auto outcome = outcome_of(which);
    if (outcome != which.outcome) FAIL_CHECK("Hearth: " << outcome << ", Python: " << line);
    ++count;
  }
  return count;
}

bool python_is_there() { return std::system("python3 -c '' >/dev/null 2>&1") == 0; }

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  REQUIRE(pipe);
  std::string output;
  char buffer[1 << 16];
  while (const auto size = std::fread(buffer, 1, sizeof buffer, pipe.get()))
    output.append(buffer, size);
  return output;
}

} // namespace

TEST_CASE("guards agree with the stored answers of Python") {
  std::ifstream table(source_folder + "/tests/messages/guard_cases.txt");
  REQUIRE(table);
  CHECK(check_cases(table) >= 2000);
}

// HEARTH_GUARD_CASES is the number of cases (the long form: 100000), HEARTH_GUARD_SEED their seed.
TEST_CASE("guards agree with Python on random expressions") {
  REQUIRE_MESSAGE(python_is_there(), "these tests need python3 (scripts/setup)");
  const auto* asked = std::getenv("HEARTH_GUARD_CASES");
  const auto* seed = std::getenv("HEARTH_GUARD_SEED");
  const int count = asked ? std::atoi(asked) : 3000;
  std::istringstream lines(
      output_of("python3 '" + source_folder + "/tests/support/guard_oracle.py' random " +
                std::to_string(count) + " " + std::to_string(seed ? std::atoi(seed) : 1)));
  CHECK(check_cases(lines) == count);
}

TEST_CASE("a guard that does not parse names the column") {
  CHECK(parse_error("m + )") == "malformed: column 5: expected a value, found ')'");
  CHECK(parse_error("") == "malformed: column 1: expected a value, found the end");
  CHECK(parse_error("m % 8 ==") == "malformed: column 9: expected a value, found the end");
  CHECK(parse_error("(m") == "malformed: column 3: expected an operator or ')', found the end");
  CHECK(parse_error("m n") == "malformed: column 3: expected an operator or the end, found 'n'");
  CHECK(parse_error("m / 2") == "malformed: column 3: '/' gives a real number; write '//'");
  CHECK(parse_error("m * 1.5") == "malformed: column 5: a real number; only integers are known");
  CHECK(parse_error("m == 012") ==
        "malformed: column 6: '012' has zeros in front; write 0o for octal");
  CHECK(parse_error("1 + 2x") == "malformed: column 5: '2x' is no number");
  CHECK(parse_error("m if n else 3") ==
        "malformed: column 3: expected an operator or the end, found 'if'");
  CHECK(parse_error("lambda") ==
        "malformed: column 1: 'lambda' is a word of Python's own, no value");
  CHECK(parse_error("1 + Eq") == "malformed: column 5: 'Eq' is a function; its arguments follow");
  CHECK(parse_error("1 + Eq(m)") == "malformed: column 5: Eq takes 2 arguments");
  CHECK(parse_error("Abs(m, n)") == "malformed: column 1: Abs takes 1 argument");
  CHECK(parse_error("Min()") == "malformed: column 1: Min takes 1 or more arguments");
  CHECK(parse_error("m & n") == "malformed: column 3: '&' is not part of the guard language");
  CHECK(parse_error("L['x") == "malformed: column 3: text without its closing quote");
  CHECK(parse_error("m\n+ n") == "malformed: column 2: a line break outside of brackets");
}

TEST_CASE("columns count characters and not bytes") {
  CHECK(parse_error("L['größe'] + )") == "malformed: column 14: expected a value, found ')'");
  CHECK(parse_error("1 + é") == "malformed: column 5: 'é' is not part of the guard language");
  CHECK(parse_error("1 + \xff") == "malformed: column 5: this is not UTF-8");
  CHECK(parse_error("1 + \xc3") == "malformed: column 5: this is not UTF-8");
  CHECK(parse_error(std::string("1 + \0", 5)) ==
        "malformed: column 5: '\\x00' is not part of the guard language");
}

TEST_CASE("a guard that cannot be evaluated names the column") {
  CHECK(value_of("1 + n", {{"m", 1}}) == "unknown_name: column 5: unknown name 'n'");
  CHECK(value_of("m + n", {{"m", 1}}) == "unknown_name: column 5: unknown name 'n'");
  CHECK(value_of("m % (m - 1)", {{"m", 1}}) == "division_by_zero: column 3: division by zero");
  CHECK(value_of("1 + Mod(m, 0)", {{"m", 1}}) == "division_by_zero: column 5: division by zero");
  CHECK(value_of("m * m * m", {{"m", 1 << 30}}) == "overflow: column 7: a value outside 64 bits");
  CHECK(value_of("1 + 9223372036854775808") == "overflow: column 5: a value outside 64 bits");
  CHECK(value_of("2 ** -1") ==
        "invalid_argument: column 3: a negative exponent gives a real number");
  CHECK(value_of("0 ** -1") == "division_by_zero: column 3: division by zero");
}

TEST_CASE("an unknown name is reported at the place where it was evaluated") {
  // The name's first place is not evaluated.
  CHECK(value_of("m or n + n", {{"n", 1}}) == "unknown_name: column 1: unknown name 'm'");
  CHECK(value_of("False and n or 1 + n") == "unknown_name: column 20: unknown name 'n'");
}

TEST_CASE("an operand that is not evaluated is no error") {
  CHECK(value_of("True or nobody // 0") == "1");
  CHECK(value_of("0 and nobody") == "0");
  CHECK(value_of("1 > 2 > nobody") == "0");
  CHECK(value_of("1 or 99999999999999999999999") == "1");
}

TEST_CASE("names are listed once and in order with their columns") {
  const auto parsed = guard_expression::parse("n * L[\"x\"].size()[ 0 ] + n + a . b[0x1, -2]");
  REQUIRE(parsed);
  CHECK(parsed->names() == std::vector<std::string>{"n", "L['x'].size()[0]", "a.b[1, -2]"});
  CHECK(parsed->column_of_name(0) == 1);
  CHECK(parsed->column_of_name(1) == 5);
  CHECK(parsed->column_of_name(2) == 30);
  CHECK(parsed->text() == "n * L[\"x\"].size()[ 0 ] + n + a . b[0x1, -2]");
}

TEST_CASE("a name is bound however it is spelt") {
  const auto parsed = guard_expression::parse("L['x'].size()[0] + m");
  REQUIRE(parsed);
  const auto values = parsed->bind({{"L[\"x\"] . size()[0]", 5}, {"m", 2}, {"other", 3}});
  REQUIRE(values.size() == 2);
  CHECK(values[0] == 5);
  CHECK(values[1] == 2);
  CHECK(parsed->evaluate_value(values) == 7);
  CHECK_FALSE(parsed->bind({{"m", 2}})[0].has_value());
}

TEST_CASE("values missing at the end of a binding are unknown") {
  const auto parsed = guard_expression::parse("m or n");
  REQUIRE(parsed);
  const std::optional<std::int64_t> values[] = {0};
  CHECK(parsed->evaluate(values).error().code() == errc::unknown_name);
  CHECK(parsed->evaluate(symbol_values{}).error().text() == "column 1: unknown name 'm'");
}

TEST_CASE("a name has one canonical spelling") {
  CHECK(canonical_symbol_name("s0") == "s0");
  CHECK(canonical_symbol_name(" L[\"x\"] . size( )[ 0 ]") == "L['x'].size()[0]");
  CHECK(canonical_symbol_name("L[\"it's\"]") == "L[\"it's\"]");
  CHECK(canonical_symbol_name("f(a.b,None , -1)") == "f(a.b, None, -1)");
  for (const auto* none : {"", "1", "m + 1", "(m)", "True", "Eq", "Eq(1, 2)", "m n", "not", "-m"}) {
    CAPTURE(none);
    const auto canonical = canonical_symbol_name(none);
    REQUIRE_FALSE(canonical);
    CHECK(canonical.error().code() == errc::malformed);
  }
}

TEST_CASE("nesting has a limit and cannot exhaust the stack") {
  const auto nested = [](std::string_view open, std::size_t depth, std::string_view close) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i)
      text += open;
    text += '1';
    for (std::size_t i = 0; i < depth; ++i)
      text += close;
    return text;
  };
  CHECK(value_of(nested("(", 100, ")")) == "1");
  CHECK(parse_error(nested("(", 101, ")")) == "too_large: column 101: nested deeper than 100");
  for (const auto& deep :
       {nested("(", 20000, ""), nested("-", 20000, ""), nested("not ", 9000, ""),
        nested("1 ** ", 9000, ""), nested("Min(1, ", 5000, ")"), nested("L[a", 9000, "")}) {
    CHECK(parse_error(deep).starts_with("too_large: column "));
  }
}

TEST_CASE("values that wait for their right side have a limit") {
  // Each level keeps four values: an argument and the left sides of three operators.
  const auto nested = [](int depth) {
    std::string text = "1";
    for (int i = 0; i < depth; ++i)
      text = "Max(0, 2 > 1 + 1 * " + text + ")";
    return text;
  };
  CHECK(value_of(nested(63)) == "0");
  CHECK(parse_error(nested(64)) == "too_large: column 1217: more than 256 values wait at once");
}

TEST_CASE("long guards are evaluated and longer ones refused") {
  std::string sum = "0";
  while (sum.size() + 4 <= max_guard_bytes)
    sum += " + 1";
  CHECK(value_of(sum) == std::to_string((sum.size() - 1) / 4));
  CHECK(parse_error(std::string(max_guard_bytes + 1, ' ')) ==
        "too_large: a guard of 65537 bytes; 65536 are allowed");
}

TEST_CASE("an error shows no more than the start of a long token") {
  const auto text = parse_error("1 " + std::string(5000, 'x'));
  CHECK(text == "malformed: column 3: expected an operator or the end, found '" +
                    std::string(40, 'x') + "...'");
}

TEST_CASE("one guard serves many threads") {
  const auto parsed = guard_expression::parse("m % 8 == 0 and (n + m) // 3 > 10");
  REQUIRE(parsed);
  std::atomic<int> held{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&held, guard = *parsed] {
      for (std::int64_t m = 0; m < 400; ++m)
        if (guard.evaluate(symbol_values{{"m", m}, {"n", 0}}).value()) ++held;
    });
  for (auto& thread : threads)
    thread.join();
  CHECK(held == 4 * 45);
}

} // namespace guard_test
