#include "runtime/process/process_runner.hpp"

#include "runtime/process/worker_path.hpp"

#include <doctest/doctest.h>

using namespace hearth;

TEST_CASE("a program's output and status arrive") {
  subprocess_runner runner{find_worker().value()};
  process_request r;
  r.argv = {"sh", "-c", "echo out; echo err >&2; cat; echo rep >&3; exit 7"};
  r.environment = {"PATH=/usr/bin:/bin"};
  r.input = "input\n";
  const auto result = runner.run(r, {});
  REQUIRE_MESSAGE(result, result.error().text());
  CHECK(result->exit_status == 7);
  CHECK(result->signal == 0);
  CHECK(result->output == "out\nerr\ninput\n");
  CHECK(result->report == "rep\n");
}
