// Guards and graphs from the command line.
#include "tests/support/hearth_program.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

namespace text_commands_test {

using namespace hearth::test;

namespace {

struct terminal {
  program_result hearth(std::vector<std::string> arguments) const {
    return run_hearth(std::move(arguments), directory.path());
  }
  void check_refused(std::vector<std::string> arguments, const std::string& words) const {
    const auto result = hearth(std::move(arguments));
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    CHECK(lines_of(result.err).size() == 1);
    CHECK_MESSAGE(result.err.find(words) != std::string::npos, result.err);
  }

  temporary_directory directory;
};

} // namespace

TEST_CASE_FIXTURE(terminal, "a guard is true or false") {
  CHECK(hearth({"guard", "s0 % 8 == 0 and s1 > 1", "s0=16", "s1=2"}).out == "true\n");
  const auto not_so = hearth({"guard", "s0 % 8 == 0", "s0=15"});
  CHECK(not_so.out == "false\n");
  CHECK(not_so.status == 1);
  CHECK(hearth({"guard", "L['a=b'].size()[0] == -3", "L[\"a=b\"].size()[0]=-3"}).status == 0);
  const auto json = hearth({"--json", "guard", "1 < 2"}).json();
  CHECK(json["holds"] == true);
}

TEST_CASE_FIXTURE(terminal, "a guard is the next argument whatever it starts with") {
  CHECK(hearth({"guard", "-s0 > 1", "s0=-2"}).status == 0);
  CHECK(hearth({"guard", "--s0 > 1", "s0=2"}).status == 0);
  CHECK(hearth({"--store", "guard", "guard", "-1 < 0"}).status == 0);
  CHECK(hearth({"guard", "list", "list=1"}).status == 0);
  check_refused({"guard", "--json"}, "guard: column 3: unknown name 'json'");
}

TEST_CASE_FIXTURE(terminal, "a wrong guard or symbol is named") {
  check_refused({"guard", "s0 >"}, "guard: column 5: ");
  check_refused({"guard", "s0 > 1"}, "guard: column 1: unknown name 's0'");
  check_refused({"guard", "1 // s0", "s0=0"}, "guard: column 3: ");
  check_refused({"guard", "s0", "s0"}, "symbol 's0': it has no '='");
  check_refused({"guard", "s0", "s0=1.5"}, "'1.5' is no whole number");
  check_refused({"guard", "s0", "s0="}, "is no whole number");
  check_refused({"guard", "s0", "s0=9223372036854775808"}, "outside 64 bits");
  check_refused({"guard", "s0", "s0=1", "s0=2"}, "has a value already");
  check_refused({"guard"}, "EXPR");
}

TEST_CASE_FIXTURE(terminal, "graphs that differ only in names have one text") {
  write_text(directory / "a", "graph(%x.1 : Float(2)):\n  %y : Tensor = aten::neg(%x.1) # f:1:2\n"
                              "  return (%y)\n");
  write_text(directory / "b", "graph(%0 : Long(3, 4)): %1 : Int(1) = aten::neg(%0) return (%1)");
  const auto a = hearth({"graph", (directory / "a").string()});
  CHECK(a.status == 0);
  CHECK(a.out == "graph(%0 : Tensor):\n  %1 : Tensor = aten::neg(%0)\n  return (%1)\n");
  CHECK(hearth({"graph", (directory / "b").string()}).out == a.out);
  CHECK(hearth({"--json", "graph", (directory / "b").string()}).json()["graph"] == a.out);
}

TEST_CASE_FIXTURE(terminal, "a malformed or missing graph is named") {
  write_text(directory / "bad", "graph(%x : Tensor):\n  return (%y)\n");
  check_refused({"graph", (directory / "bad").string()},
                "/bad: line 2, column 11: '%y' is used before it is defined");
  check_refused({"graph", (directory / "none").string()}, "none");
  check_refused({"graph"}, "FILE");
}

} // namespace text_commands_test
