// `hearth script` and `hearth simulate`: `hearth` starts the program that has them.
#include "tests/support/hearth_program.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

namespace simulation_commands_test {

using namespace hearth::test;
namespace fs = std::filesystem;

const std::string script =
    std::string(HEARTH_SOURCE_DIR) + "/tests/scripts/guards_none_holds.script";

TEST_CASE("hearth starts the program of scripts and seeds, with options before and after") {
  const temporary_directory directory;
  const auto runs = run_hearth({"script", script, "--seeds", "1..3"}, directory.path());
  CHECK(runs.status == 0);
  CHECK(runs.out == "3 of 3 runs of 1 scripts passed\n");
  const auto json = run_hearth({"--json", "script", script}, directory.path());
  CHECK(json.json().at(0).at("passed") == true);
  const auto seeds = run_hearth({"simulate", "--seeds", "1..1"}, directory.path());
  CHECK(seeds.status == 0);
  CHECK(seeds.out.starts_with("1 of 1 seeds violated nothing"));
}

TEST_CASE("wrong arguments of scripts and seeds are one line and status 2") {
  const temporary_directory directory;
  check_error(run_hearth({"script"}, directory.path()), 2, "FILE");
  check_error(run_hearth({"script", "/nowhere"}, directory.path()), 2, "/nowhere");
  check_error(run_hearth({"simulate", "--seeds", "x"}, directory.path()), 2, "1..100");
  check_error(run_hearth({"--store", "s", "simulate", "--seeds", "1"}, directory.path()), 2,
              "--store");
}

TEST_CASE("without its program a command says what to build") {
  const temporary_directory directory;
  const auto alone = directory / "hearth";
  fs::copy_file(HEARTH_RUNTIME, alone);
  const auto command = alone.string() + " script x 2> " + (directory / "err").string();
  CHECK(WEXITSTATUS(std::system(command.c_str())) == 3);
  CHECK(file_text(directory / "err").find("build the target hearth-simulation") !=
        std::string::npos);
}

} // namespace simulation_commands_test
