#include "runtime/simulation/script/parser.hpp"
#include "tests/support/files.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <string>

namespace parser_test {

using namespace hearth;

namespace {

std::string problem_of(const std::string& text) {
  const auto parsed = script::parse("t", text);
  return parsed ? "" : parsed.error().text();
}

} // namespace

TEST_CASE("a malformed script is an error with file, line, column and the expected words") {
  CHECK(problem_of("procss a") ==
        "t:1:1: expected a statement or the name of a client, got 'procss'");
  CHECK(problem_of("process a\n\n  client x on a") == "t:3:12: expected 'in', got 'on'");
  CHECK(problem_of("process a\nclient x in b") ==
        "t:2:13: expected the name of a process, got 'b'");
  CHECK(problem_of("process a\nprocess a") == "t:2:9: expected a name that is not taken, got 'a'");
  CHECK(problem_of("process a\nclient x in a\nx asks a.memory get fxgraph") ==
        "t:3:21: expected a key, as fxgraph/matmul or tunes@2/\"a b\", got 'fxgraph'");
  CHECK(problem_of("process a\nclient x in a\nx asks a.memory insert c/k \"v") ==
        "t:3:28: expected a closing quote for this one");
  CHECK(problem_of("process a\nclient x in a\nx asks a.memory get c/k more") ==
        "t:3:25: expected the end of the line, got 'more'");
  CHECK(problem_of("advance 5") == "t:1:9: expected a time, as 5ms or 1ms..5ms, got '5'");
  CHECK(problem_of("expect x miss") == "t:1:8: expected an answer, or PROCESS.ACTOR, got 'x'");
  CHECK(problem_of("expect trace\n  a\n") ==
        "t:1:1: expected 'end' after the lines of this trace, but the script ends");
  CHECK(problem_of("process a\ndisk a fails write EFOO") ==
        "t:2:20: expected an errno, as ENOSPC or EIO, got 'EFOO'");
  CHECK(problem_of("cluster c groups=0") == "t:1:11: expected groups=N (1 to 16), got 'groups=0'");
  CHECK(problem_of("cluster c groups=2\nremote c[4] stalls") ==
        "t:2:8: expected one of the nodes 0 to 3 of c, got 4");
  CHECK(problem_of("remote r\nremote r[0] stalls") ==
        "t:2:8: expected a cluster before the brackets, got 'r'");
  CHECK(problem_of("cluster c\nremote c[1] forgets c/k") ==
        "t:2:13: expected the cluster without a node: an entry is where its slot is");
  CHECK(problem_of("cluster c\ncluster c fails over 3") ==
        "t:2:22: expected one of the groups 0 to 2 of c, got 3");
  CHECK(problem_of("cluster c\ncluster c heals") ==
        "t:2:11: expected fails over, moves, splits, stops minority or joins, got 'heals'");
  CHECK(problem_of("cluster c\nexpect c[6].server entries = 0") ==
        "t:2:8: expected one of the nodes 0 to 5 of c, got 6");
  CHECK(problem_of("cluster c\nexpect c.server[0] entries = 0") ==
        "t:2:8: expected the number of a node behind the name of its cluster, as c[0].server");
  CHECK(problem_of("remote fleet\nprocess a remote=flet") ==
        "t:2:18: expected the name of a server or cluster, got 'flet'");
  CHECK(problem_of("maybe cluster c") ==
        "t:1:7: expected something that may also not happen after maybe");
  CHECK(problem_of("maybe host b") ==
        "t:1:7: expected something that may also not happen after maybe");
}

TEST_CASE("a repeated block is copied so many times, with the number of each turn") {
  const auto parsed = script::parse("t", "process a\n"
                                         "repeat 2 as i\n"
                                         "  client x{i} in a # one each\n"
                                         "\n"
                                         "  repeat 3 as j\n"
                                         "    x{i} asks a.memory get c/k{i}_{j}\n"
                                         "  end\n"
                                         "  expect trace\n"
                                         "    * get c/k{i}_3\n"
                                         "  end\n"
                                         "end\n"
                                         "expect all answered\n");
  REQUIRE_MESSAGE(parsed, parsed.error().text());
  REQUIRE(parsed->statements.size() == 1 + 2 * (1 + 3 + 1) + 1);
  CHECK(parsed->statements[1].source == "client x1 in a");
  CHECK(parsed->statements[1].line == 3);
  CHECK(parsed->statements[9].source == "x2 asks a.memory get c/k2_3");
  CHECK(parsed->statements[9].line == 6);
  const auto* trace = std::get_if<script::expect_trace>(&parsed->statements[10].what);
  REQUIRE(trace);
  CHECK(trace->patterns == std::vector<std::string>{"* get c/k2_3"});
  CHECK(parsed->statements.back().line == 12);
}

TEST_CASE("a repeated block has to end, and not too late") {
  CHECK(problem_of("repeat 2\nsettle") ==
        "t:1:1: expected 'end' after the lines of this block, but the script ends");
  CHECK(problem_of("repeat 0\nend") == "t:1:8: expected 1 to 10000 times");
  CHECK(problem_of("repeat 10001\nend") == "t:1:8: expected 1 to 10000 times");
  CHECK(problem_of("repeat 2\nprocss a\nend") ==
        "t:2:1: expected a statement or the name of a client, got 'procss'");
  CHECK(problem_of("process a\nrepeat 2\nclient x in a\nend") ==
        "t:3:8: expected a name that is not taken, got 'x'");
  CHECK(problem_of("repeat 1000\nrepeat 1000\nsettle\nend\nend")
            .find("expected at most 100000 statements") != std::string::npos);
}

TEST_CASE("a message that an actor does not have is an error with those that it has") {
  const auto problem = problem_of("process a\nclient x in a\nx asks a.autotune find k");
  CHECK(problem == "t:3:19: expected one of: best, save; got 'find'");
}

TEST_CASE("comments and empty lines are no statements") {
  const auto parsed = script::parse("t", "# one\n\nprocess a # two\nclient x in a\n"
                                         "x asks a.memory insert c/#7 \"a # b\"\n");
  REQUIRE(parsed);
  CHECK(parsed->statements.size() == 3);
  CHECK(parsed->statements.back().line == 5);
}

TEST_CASE("every message of every actor is sent by some script") {
  std::set<const simulation::message_row*> sent;
  const auto folder = std::filesystem::path(HEARTH_SOURCE_DIR) / "tests" / "scripts";
  std::size_t scripts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    CHECK(entry.path().extension() == ".script");
    const auto parsed = script::parse(entry.path().filename(), test::file_text(entry.path()));
    REQUIRE_MESSAGE(parsed, parsed.error().text());
    ++scripts;
    for (const auto& one : parsed->statements)
      if (const auto* message = std::get_if<script::send_message>(&one.what))
        sent.insert(message->row);
  }
  CHECK(scripts >= 60);
  for (const auto& row : simulation::message_table()) {
    CAPTURE(row.usage());
    CHECK(sent.contains(&row));
  }
}

} // namespace parser_test
