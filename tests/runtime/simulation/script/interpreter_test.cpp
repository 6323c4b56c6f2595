#include "runtime/simulation/script/interpreter.hpp"

#include "runtime/simulation/script/parser.hpp"

#include <doctest/doctest.h>

#include <string>

namespace interpreter_test {

using namespace hearth;

namespace {

script::run_result run(const std::string& text, std::uint64_t seed = 0) {
  const auto parsed = script::parse("t", text);
  REQUIRE_MESSAGE(parsed, parsed.error().text());
  return script::run(*parsed, {seed});
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string one_get = "process a\nclient x in a\nx asks a.memory get c/k\nsettle\n";

} // namespace

TEST_CASE("an expectation that does not hold is told with what came and the messages before") {
  const auto result = run(one_get + "expect x hit *\n");
  CHECK_FALSE(result.passed);
  CHECK(has(result.failure, "t:5: expect x hit *\n  expected: hit *\n  got:      miss\n"));
  CHECK(has(result.failure, "0.000ms a.disk[0] => a.memory[0]: miss\n"));
}

TEST_CASE("every kind of expectation can fail") {
  for (const auto* expectation :
       {"expect x waiting", "expect x hit", "expect a.memory misses = 7", "expect a.store hits > 0",
        "expect a.memory nonsense = 0", "expect no trace *miss", "expect log a *",
        "expect trace\n  a.memory[0] => x: miss\n  x -> a.memory[0]: *\nend",
        "x asks a.memory acquire c/k as held\nx asks a.memory acquire c/k\nsettle within 1s\n"
        "expect all answered",
        "crash a\nexpect a.store intact"}) {
    CAPTURE(expectation);
    CHECK_FALSE(run(one_get + expectation).passed);
  }
}

TEST_CASE("one of several answers is enough, and none is not") {
  CHECK(run(one_get + "expect x hit * or miss").passed);
  CHECK(run(one_get + "expect x waiting or miss or hit *").passed);
  CHECK(has(run(one_get + "expect x waiting or hit *").failure,
            "expected: no answer yet or hit *\n  got:      miss\n"));
  const std::string quoted =
      "process a\nclient x in a\nx asks a.memory insert c/k \"a or b\"\nsettle\n"
      "x asks a.memory get c/k\nsettle\n";
  CHECK(run(quoted + "expect x hit memory \"a or b\"").passed);
  CHECK_FALSE(run(quoted + "expect x hit memory \"a or c\"").passed);
}

TEST_CASE("messages settle by themselves when they are told to, and not before") {
  const std::string asked = "x asks a.memory get c/k\n";
  const std::string world = "process a\nclient x in a\n";
  CHECK(run(world + asked + "expect x waiting").passed);
  CHECK(run(world + "settle always\n" + asked + "expect x miss").passed);
  CHECK(run(world + "settle always\nsettle when told\n" + asked + "expect x waiting").passed);
  const auto said = run(world + asked + "settle\n" + asked + "settle");
  CHECK(run(world + "settle always\n" + asked + asked).trace == said.trace);
}

TEST_CASE("a script that does not end is stopped") {
  const std::string endless = "process a\nprocess b\nclient x in a\nclient y in b\n"
                              "x asks a.memory lock c/k\nsettle\ny asks b.memory lock c/k\n";
  CHECK(has(run(endless + "limit steps 100\nrun 60min").failure, "expected: at most 100 messages"));
  CHECK(has(run(endless + "limit time 1s\nrun 60min").failure,
            "expected: at most 1000.000ms of virtual time"));
}

TEST_CASE("one seed gives one trace and others others") {
  const std::string race = "process a\nclient x in a\nclient y in a\nx asks a.memory insert c/k "
                           "\"1\"\ny asks a.memory get c/other\nx asks a.memory get c/k\nsettle\n";
  CHECK(run(race, 5).trace == run(race, 5).trace);
  bool differs = false;
  for (std::uint64_t seed = 1; seed < 20; ++seed)
    differs = differs || run(race, seed).trace != run(race).trace;
  CHECK(differs);
}

TEST_CASE("what may happen happens under some seeds") {
  const std::string chance = one_get + "maybe expect x hit\n";
  CHECK(run(chance).passed);
  int failed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    failed += !run(chance, seed).passed;
  CHECK(failed > 0);
  CHECK(failed < 20);
}

} // namespace interpreter_test
