// What `hearth compile` shows while it works.
#include "tests/integration/terminal_run.hpp"
#include "tests/support/small_plan.hpp"
#include "tests/support/temporary_directory.hpp"

#include <cstdlib>

namespace compile_terminal_test {

using namespace hearth::test;
using words = std::vector<std::string>;

namespace {

struct small_work {
  small_work() { write_small_plan(directory.path()); }
  words arguments(const std::string& store, const words& more = {}) const {
    words all{"compile", (directory / "plan.toml").string(), "--store",
              (directory / store).string()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  temporary_directory directory;
};

} // namespace

TEST_CASE_FIXTURE(small_work, "compile shows on a terminal what it works at, and removes it") {
  const auto ended = run_at_terminal(arguments("a"), directory.path());
  CHECK(ended.status == 0);
  CHECK(ended.shown.find("[........................] 0/1: one n=1") != std::string::npos);
  CHECK(ended.shown.find("[########################] 1/1") != std::string::npos);
  CHECK(ended.shown.ends_with("\r\033[K"));
  CHECK(ended.shown.find('\n') == std::string::npos);
  CHECK(ended.out.starts_with("KERNEL"));
}

TEST_CASE_FIXTURE(small_work, "compile shows no progress on a pipe, and none with --quiet") {
  const auto piped = run_hearth(arguments("a"), directory.path());
  CHECK(piped.status == 0);
  CHECK(piped.err == "");
  CHECK(piped.out.find("\nGAIN: ") != std::string::npos);
  const auto quiet = run_at_terminal(arguments("b", {"--quiet"}), directory.path());
  CHECK(quiet.status == 0);
  CHECK(quiet.shown == "");
  CHECK(quiet.out.starts_with("KERNEL"));
  const auto verify = run_at_terminal({"verify", "--quiet", "--store", (directory / "a").string()},
                                      directory.path());
  CHECK(verify.status == 0);
  CHECK(verify.shown == "");
  const auto logged = run_hearth(arguments("c", {"--verbose"}), directory.path());
  CHECK(logged.err.find("hearth: info: [1/1] one n=1: compiled\n") != std::string::npos);
}

TEST_CASE_FIXTURE(small_work, "compile says on stderr that requests failed, and on stdout why") {
  write_text(directory / "one.cpp", "this is no program\n");
  const auto failed = run_hearth(arguments("a"), directory.path());
  CHECK(failed.status == 1);
  CHECK(failed.err == "hearth: 1 of 1 requests failed: the report says why\n");
  CHECK(failed.out.find("\none: ") != std::string::npos);
}

TEST_CASE_FIXTURE(small_work, "without hearth-worker commands name the place and what to do") {
  ::setenv("HEARTH_WORKER", "/nowhere/at-all/hearth-worker", 1);
  const auto compiled = run_hearth(arguments("a"), directory.path());
  const auto ran =
      run_hearth({"run", "--store", (directory / "a").string(), "--", "true"}, directory.path());
  ::unsetenv("HEARTH_WORKER");
  const std::string place =
      "no program at /nowhere/at-all/hearth-worker, where HEARTH_WORKER has hearth-worker";
  check_error(compiled, 3, place);
  CHECK(compiled.err.find("correct or remove it") != std::string::npos);
  check_error(ran, 125, place);
}

} // namespace compile_terminal_test
