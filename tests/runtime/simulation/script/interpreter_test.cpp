#include "runtime/simulation/script/interpreter.hpp"

#include "messages/replace_all.hpp"
#include "runtime/simulation/script/parser.hpp"
#include "tests/support/files.hpp"

#include <doctest/doctest.h>

#include <filesystem>
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

TEST_CASE("an expectation that does not hold is reported with the result and the messages before") {
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

TEST_CASE("one of several allowed answers is enough, and another one is not") {
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

TEST_CASE("messages run by themselves when a statement says so, and not before") {
  const std::string asked = "x asks a.memory get c/k\n";
  const std::string world = "process a\nclient x in a\n";
  CHECK(run(world + asked + "expect x waiting").passed);
  CHECK(run(world + "settle always\n" + asked + "expect x miss").passed);
  CHECK(run(world + "settle always\nsettle when told\n" + asked + "expect x waiting").passed);
  const auto said = run(world + asked + "settle\n" + asked + "settle");
  CHECK(run(world + "settle always\n" + asked + asked).trace == said.trace);
}

TEST_CASE("an error that nothing expects fails the script at its end") {
  const std::string world = "process a\nclient x in a\nclient y in a\nsettle always\n";
  const std::string failing = "x asks a.recorder count 7\n";
  CHECK(has(run(world + failing).failure,
            "t:5: x asks a.recorder count 7\n"
            "  expected: no error that nothing expects, to the end of the script\n"
            "  got:      x has error not_found "));
  CHECK(run(world + failing + "expect x error not_found *").passed);
  // Another answer of that client does not replace it, nor does the check that all are answered.
  CHECK_FALSE(run(world + failing + "x asks a.memory get c/k\nexpect x miss").passed);
  CHECK_FALSE(run(world + failing + "expect all answered").passed);
  CHECK_FALSE(run("process a\nclient x in a\n" + failing + "expect x waiting\nsettle").passed);
  // A client that died expects no answer.
  CHECK(run(world + failing + "crash x").passed);
}

TEST_CASE("a figure of a host is the sum of its processes, with compilers of those that ended") {
  const std::string world = "host h\nhost i\nprocess a on h\nprocess b on h\nprocess c on i\n"
                            "client x in a\nclient y in b\nclient z in c\nsettle always\n"
                            "x asks a.broker run \"one\" 0\ny asks b.broker run \"one\" 0\n"
                            "y asks b.broker run \"two\" 0\nz asks c.broker run \"one\" 0\n";
  CHECK(run(world + "expect h.compiler runs = 3\nexpect i.compiler runs = 1").passed);
  CHECK(run(world + "expect h.broker runs = 3\nexpect h.broker idle = 2").passed);
  CHECK(run(world + "crash b\nexpect h.compiler runs = 3").passed);
  CHECK_FALSE(run(world + "expect h.compiler runs = 2").passed);
  CHECK(has(run(world + "expect h.broker nonsense = 0").failure,
            "expected: a figure nonsense\n  got:      there is none of that name\n"));
}

namespace {

// The number of the first seeds under which a script of tests/scripts passes when its `either` is
// replaced by `one`.
int seeds_with(const std::string& name, const std::string& either, const std::string& one) {
  const auto path = std::filesystem::path(HEARTH_SOURCE_DIR) / "tests" / "scripts" / name;
  auto text = test::file_text(path);
  REQUIRE(has(text, either));
  replace_all(text, either, one);
  int passed = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed)
    passed += run(text, seed).passed;
  return passed;
}

} // namespace

TEST_CASE("a power loss loses unsynced data under some seeds and keeps it under others") {
  for (const auto* name : {"crash_power_loss_without_flush_serves_nothing_wrong.script",
                           "crash_disk_that_lies_about_syncs.script"}) {
    CAPTURE(std::string(name));
    const std::string either = "expect x miss or hit disk \"binary\"";
    const int lost = seeds_with(name, either, "expect x miss");
    const int kept = seeds_with(name, either, "expect x hit disk \"binary\"");
    CHECK(lost > 0);
    CHECK(kept > 0);
    CHECK(lost + kept == 50);
  }
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

TEST_CASE("an optional event happens under some seeds") {
  const std::string chance = one_get + "maybe expect x hit\n";
  CHECK(run(chance).passed);
  int failed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    failed += !run(chance, seed).passed;
  CHECK(failed > 0);
  CHECK(failed < 20);
}

} // namespace interpreter_test
