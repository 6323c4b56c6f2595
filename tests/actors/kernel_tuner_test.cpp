#include "tests/support/tuning_process.hpp"

namespace kernel_tuner_test {

using namespace hearth;
using namespace hearth::test;

namespace {

struct fixture : deterministic {
  temporary_directory directory;
  tuning_process one{*this, directory.path()};

  tune_reply tune(tuning_process& where, const tune_request_ptr& request) {
    return ask<tune_reply>(where.tuner, verb::tune_v, request).value();
  }
};

} // namespace

TEST_CASE_FIXTURE(fixture, "every candidate is compiled once and the fastest is kept") {
  const auto request = request_for({1, 4, 2});
  const auto made = tune(one, request);
  CHECK(made.status == tune_status::compiled);
  CHECK(made.config_text == "TILE=4");
  CHECK(made.library.payload() == "4");
  CHECK(made.time_ns == 250);
  CHECK(made.slowest_time_ns == 1000);
  CHECK(made.rejected.empty());
  CHECK(made.problem.empty());
  CHECK(one.fakes.processes->requests.size() == 3);
  const auto again = tune(one, request);
  CHECK(again.status == tune_status::memory);
  CHECK(again.config == made.config);
  CHECK(one.fakes.processes->requests.size() == 3);
  CHECK(one.fakes.trials->count == 3);
  const auto best = ask<autotune_found>(one.autotune, verb::best_v, request->address,
                                        actors::choices_of(*request), tuning_notes{});
  CHECK(best->record.config.arguments == made.config);
  CHECK(best->record.kernel_time_ns == 250);
  CHECK(best->record.label == "matmul");
}

TEST_CASE_FIXTURE(fixture, "the next process finds the stored entry and tries nothing") {
  tune(one, request_for({1, 2}));
  tuning_process two(*this, directory.path());
  const auto found = tune(two, request_for({1, 2}));
  CHECK(found.status == tune_status::disk);
  CHECK(found.config_text == "TILE=2");
  CHECK(two.fakes.processes->requests.empty());
  CHECK(two.fakes.trials->count == 0);
}

TEST_CASE_FIXTURE(fixture, "two processes that ask at once make an entry once") {
  tuning_process two(*this, directory.path());
  auto here = self->request(one.tuner, caf::infinite, verb::tune_v, request_for({1, 2}));
  auto there = self->request(two.tuner, caf::infinite, verb::tune_v, request_for({1, 2}));
  run_until_idle();
  std::vector<tune_status> statuses;
  const auto note = [&](const tune_reply& reply) {
    statuses.push_back(reply.status);
    CHECK(reply.config_text == "TILE=2");
  };
  const auto failed = [](const caf::error& why) { FAIL(from_caf(why).text()); };
  here.receive(note, failed);
  there.receive(note, failed);
  CHECK(statuses == std::vector<tune_status>{tune_status::compiled, tune_status::waited});
  CHECK(one.fakes.processes->requests.size() + two.fakes.processes->requests.size() == 2);
}

TEST_CASE_FIXTURE(fixture, "a candidate that is not good is left out with its reason") {
  one.fakes.processes->answer = [&](const process_request& request) -> expected<process_result> {
    process_result result;
    if (request.argv.back() == "1") {
      result.exit_status = 1;
      result.output = "In file included\nx.cpp:3:1: error: bad tile\nnote: more\n";
    }
    (*one.fakes.scratch->content)["out"] = request.argv.back();
    return result;
  };
  one.fakes.trials->answer = [](const std::string& library) -> trial_result {
    if (library == "2") return {trial_status::crashed, "SIGSEGV in matmul", 0, 0};
    if (library == "3") return {trial_status::hung, "still running", 0, 0};
    if (library == "4") return {trial_status::wrong, "output 0 [1]", 0, 0};
    return {trial_status::good, {}, 10, 1};
  };
  const auto made = tune(one, request_for({1, 2, 3, 4, 5}));
  CHECK(made.status == tune_status::compiled);
  CHECK(made.config_text == "TILE=5");
  REQUIRE(made.rejected.size() == 4);
  CHECK(made.rejected[0].reason == "does not compile (status 1): x.cpp:3:1: error: bad tile");
  CHECK(made.rejected[1].reason == "crashed: SIGSEGV in matmul");
  CHECK(made.rejected[2].reason == "hung: still running");
  CHECK(made.rejected[3].reason == "wrong result: output 0 [1]");
  CHECK(tune(one, request_for({1, 2, 3, 4, 5})).rejected.size() == 4);
}

TEST_CASE_FIXTURE(fixture, "without a good candidate it fails and nothing is kept") {
  one.fakes.trials->answer = [](const std::string&) -> trial_result {
    return {trial_status::wrong, "output 0 [1]", 0, 0};
  };
  for (int i = 0; i < 2; ++i) {
    const auto failed = tune(one, request_for({1, 2}));
    CHECK(failed.status == tune_status::failed);
    CHECK(failed.problem == "no configuration is good");
    CHECK(failed.rejected.size() == 2);
  }
  CHECK(one.fakes.processes->requests.size() == 2); // the actions were kept
  CHECK(one.fakes.trials->count == 4);
}

TEST_CASE_FIXTURE(fixture, "a failure that the machine caused is no verdict and is tried again") {
  one.fakes.processes->answer = [&](const process_request& request) -> expected<process_result> {
    if (request.argv.back() == "9") return fail(errc::process_failed, "no memory for a process");
    (*one.fakes.scratch->content)["out"] = request.argv.back();
    return process_result{};
  };
  const auto first = tune(one, request_for({9, 2}));
  CHECK(first.status == tune_status::compiled);
  CHECK(first.config_text == "TILE=2");
  CHECK(first.problem.find("not kept") == 0);
  one.fakes.processes->answer = [&](const process_request& request) -> expected<process_result> {
    (*one.fakes.scratch->content)["out"] = request.argv.back();
    return process_result{};
  };
  const auto second = tune(one, request_for({9, 2}));
  CHECK(second.status == tune_status::compiled);
  CHECK(second.config_text == "TILE=9");
  CHECK(second.problem.empty());
}

TEST_CASE_FIXTURE(fixture, "a candidate that cannot be read is left out without a compile") {
  auto request = std::make_shared<tune_request>(*request_for({1, 2}));
  request->candidates[1].broken =
      error{errc::compile_failed, "x.cpp:1: fatal error: none.hpp: No such file"};
  const auto made = tune(one, request);
  CHECK(made.config_text == "TILE=1");
  CHECK(made.rejected.at(0).reason ==
        "does not compile: x.cpp:1: fatal error: none.hpp: No such file");
  CHECK(one.fakes.processes->requests.size() == 1);
}

TEST_CASE_FIXTURE(fixture, "an entry serves the sizes that its guard holds for") {
  const auto request = request_for({1, 2}, "n % 8 == 0");
  CHECK(tune(one, request).status == tune_status::compiled);
  auto other = std::make_shared<tune_request>(*request);
  other->sizes = {{"n", 64}};
  CHECK(tune(one, other).status == tune_status::memory);
  other = std::make_shared<tune_request>(*request);
  other->sizes = {{"n", 7}};
  CHECK(tune(one, other).status == tune_status::compiled);
}

} // namespace kernel_tuner_test
