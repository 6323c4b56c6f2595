#include "actors/compile_broker.hpp"

#include "actors/compile_worker.hpp"
#include "tests/support/deterministic.hpp"
#include "tests/support/fake_ports.hpp"

#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <doctest/doctest.h>

namespace compile_broker_test {

using namespace hearth;
using namespace hearth::test;

namespace {

action_request action(const std::string& label) {
  action_request request;
  request.label = label;
  request.process.argv = {"cc", "-o", ""};
  request.outputs = {{2, "out"}};
  return request;
}

struct fixture : deterministic {
  fake_ports fakes;

  compile_broker_actor broker(int workers) {
    std::vector<compile_worker_actor> all;
    for (int i = 0; i < workers; ++i)
      all.push_back(keep(system.spawn(actors::compile_worker, fakes.ports())));
    return keep(system.spawn(actors::compile_broker, all));
  }
  expected<action_result> run(const compile_broker_actor& b, const action_request& request) {
    return ask<action_result>(b, verb::run_v, request, 0);
  }
};

// A worker that records its requests and answers a run when it gets a trial.
struct held_worker_state {
  caf::typed_response_promise<action_result> running;
};

compile_worker_actor::behavior_type
held_worker(compile_worker_actor::stateful_pointer<held_worker_state> self,
            std::vector<std::string>* started) {
  return {
      [=](verb::run, const action_request& request) {
        started->push_back(request.label);
        self->state.running = self->make_response_promise<action_result>();
        return self->state.running;
      },
      [=](verb::trial, const trial_request&, const artifact&, std::chrono::milliseconds) {
        self->state.running.deliver(action_result{});
        return trial_result{};
      },
  };
}

} // namespace

TEST_CASE_FIXTURE(fixture, "an action gets a path for its output and its bytes come back") {
  fakes.processes->answer = [&](const process_request& request) {
    CHECK(request.argv.at(2) == "/scratch/out");
    (*fakes.scratch->content)["out"] = "object";
    return process_result{};
  };
  const auto result = run(broker(1), action("a"));
  REQUIRE(result);
  CHECK(result->outputs.at(0).payload() == "object");
}

TEST_CASE_FIXTURE(fixture, "a program that succeeds without its output is an error") {
  const auto result = run(broker(1), action("a"));
  CHECK(result.error().code() == errc::process_failed);
  CHECK(result.error().text().find("a: cc succeeded without writing its output") == 0);
}

TEST_CASE_FIXTURE(fixture, "a program that fails is no error and its output comes back") {
  fakes.processes->answer = [](const process_request&) {
    process_result failed;
    failed.exit_status = 1;
    failed.output = "x.cpp:1: error: no";
    return failed;
  };
  const auto b = broker(1);
  const auto result = run(b, action("a"));
  REQUIRE(result);
  CHECK_FALSE(result->process.succeeded());
  CHECK(result->process.output == "x.cpp:1: error: no");
  CHECK(ask<broker_stats>(b, verb::stats_v)->failures == 1);
}

TEST_CASE_FIXTURE(fixture, "a run that is not accepted is an error") {
  (*fakes.scratch->content)["out"] = "object";
  auto request = action("a");
  request.accept = [](const auto&) -> expected<void> { return fail(errc::busy, "it changed"); };
  CHECK(run(broker(1), request).error().text() == "a: it changed");
}

TEST_CASE_FIXTURE(fixture, "an output that is not required may be left out") {
  (*fakes.scratch->content)["out"] = "object";
  auto request = action("a");
  request.outputs.push_back({action_request::no_argument, "notes"});
  CHECK(run(broker(1), request).error().code() == errc::process_failed);
  request.outputs.back().is_required = false;
  const auto result = run(broker(1), request);
  REQUIRE(result);
  REQUIRE(result->outputs.size() == 2);
  CHECK(result->outputs[0].payload() == "object");
  CHECK_FALSE(result->outputs[1]);
  const auto stored = decode_result(encode_result(*result));
  REQUIRE(stored);
  REQUIRE(stored->outputs.size() == 2);
  CHECK(stored->outputs[0].payload() == "object");
  CHECK_FALSE(stored->outputs[1]);
}

TEST_CASE_FIXTURE(
    fixture, "no more programs run at once than there are workers and urgent ones come first") {
  std::vector<std::string> started;
  std::vector<compile_worker_actor> workers;
  for (int i = 0; i < 2; ++i)
    workers.push_back(keep(system.spawn(held_worker, &started)));
  const auto b = keep(system.spawn(actors::compile_broker, workers));
  const auto poke = [&](const compile_worker_actor& worker) {
    CHECK(ask<trial_result>(worker, verb::trial_v, trial_request{}, artifact{},
                            std::chrono::milliseconds(0)));
  };
  for (const auto* label : {"a", "b", "c", "d"})
    caf::anon_send(b, verb::run_v, action(label), 0);
  caf::anon_send(b, verb::run_v, action("urgent"), 5);
  scheduler.run();
  CHECK(started == std::vector<std::string>{"a", "b"});
  poke(workers[0]);
  CHECK(started.back() == "urgent");
  for (int i = 0; i < 3; ++i)
    poke(workers[0]);
  poke(workers[1]);
  CHECK(started == std::vector<std::string>{"a", "b", "urgent", "c", "d"});
  const auto stats = ask<broker_stats>(b, verb::stats_v);
  CHECK(stats->runs == 5);
  CHECK(stats->max_at_once == 2);
  CHECK(ask<span_list>(b, verb::trace_v)->size() == 5);
}

} // namespace compile_broker_test
