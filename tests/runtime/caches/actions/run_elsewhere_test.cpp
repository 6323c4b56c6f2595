// Programs of actions that a host runs elsewhere.
#include "runtime/caches/actions/action_cache.hpp"
#include "runtime/handle/runtime.hpp"
#include "tests/support/files.hpp"
#include "tests/support/runtimes.hpp"

#include <doctest/doctest.h>
#include <stdexcept>

namespace run_elsewhere_test {

using namespace hearth;
using namespace hearth::test;

namespace {

// A host whose executor counts what it is asked for.
struct farm : on_disk {
  config settings(bool takes_it) {
    auto made = on_disk::settings();
    made.watch_programs = false;
    made.run_elsewhere =
        [this, takes_it](const process_request& program,
                         const std::stop_token&) -> std::optional<expected<process_result>> {
      ++asked;
      if (!takes_it) return std::nullopt;
      // As the program would do: the output is where the script names it.
      write_text(std::filesystem::path(program.directory) / "out", "made on the farm");
      process_result done;
      done.output = "farmed";
      return done;
    };
    return made;
  }
  action asked_for() const {
    action made({"/bin/sh", "-c", "echo made here > out"});
    made.outputs = {"out"};
    made.sees_undeclared = false; // nothing tells what a program reads elsewhere
    return made;
  }
  int asked = 0;
};

} // namespace

TEST_CASE_FIXTURE(farm, "an executor runs an action elsewhere, and its result is kept") {
  runtime rt(settings(true));
  const auto actions = *action_cache::open(rt);
  for (int run = 0; run < 2; ++run) {
    const auto outcome = actions.run(asked_for());
    REQUIRE_MESSAGE(outcome, outcome.error().text());
    CHECK(outcome->succeeded());
    CHECK(outcome->outputs.front().bytes.payload() == "made on the farm");
  }
  CHECK(asked == 1);
}

TEST_CASE_FIXTURE(farm, "what an executor does not take is run here") {
  runtime rt(settings(false));
  const auto outcome = action_cache::open(rt)->run(asked_for());
  REQUIRE_MESSAGE(outcome, outcome.error().text());
  CHECK(outcome->outputs.front().bytes.payload() == "made here\n");
  CHECK(asked == 1);
}

TEST_CASE_FIXTURE(farm, "an executor that throws is an error of the call alone") {
  auto failing = settings(true);
  failing.run_elsewhere = [](const auto&, const auto&) -> std::optional<expected<process_result>> {
    throw std::runtime_error("the farm burns");
  };
  runtime rt(failing);
  const auto actions = *action_cache::open(rt);
  const auto outcome = actions.run(asked_for());
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code() == errc::process_failed);
  CHECK(outcome.error().text().find("the farm burns") != std::string::npos);
}

} // namespace run_elsewhere_test
