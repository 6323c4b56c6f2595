#include "actors/action_cache.hpp"

#include "tests/support/tuning_process.hpp"

#include <doctest/doctest.h>

namespace action_cache_test {

using namespace hearth;
using namespace hearth::test;

namespace {

using waiting = std::shared_ptr<completion_state<action_reply>>;

action_request action(const std::string& label) {
  action_request request;
  request.label = label;
  request.process.argv = {"cc", "-o", ""};
  request.outputs = {{2, "out"}};
  return request;
}

// Discovers the inputs that `read` returns.
action_request discovering(const std::string& label, const std::string& read) {
  auto request = action(label);
  request.dependency_file = "d";
  request.observe = [read](const action_request::run_record&) { return read; };
  return request;
}

struct fixture : deterministic {
  fixture() {
    fakes.processes->answer = [this](const process_request&) {
      (*fakes.scratch->content)["out"] = "object";
      (*fakes.scratch->content)["d"] = "out: read";
      process_result result;
      result.exit_status = status;
      result.errors = "said";
      return result;
    };
    actions = services_over(*this, one, fakes.ports()).actions;
  }
  expected<action_reply> run(const action_request& request) {
    return ask<action_reply>(actions, verb::run_v, k, request, 0);
  }
  // Sends the request as a plain thread does.
  waiting call(const action_request& request, int priority = 0) {
    auto state = std::make_shared<completion_state<action_reply>>();
    caf::anon_send(actions, verb::run_v, k, request, priority, action_completion(state));
    return state;
  }
  member_set observed() {
    const auto found =
        ask<lookup>(one.shard, verb::find_set_v, actors::observations_key(k)).value();
    return decode_members(found.value.payload()).value_or(member_set{});
  }
  std::size_t runs() const { return fakes.processes->requests.size(); }

  temporary_directory directory;
  tiers one{*this, directory / "store"};
  fake_ports fakes;
  int status = 0;
  action_cache_actor actions;
  const cache_key k = key_in("results", "key");
};

} // namespace

TEST_CASE_FIXTURE(fixture, "a result is found the second time") {
  const auto first = run(action("a"));
  REQUIRE(first);
  CHECK(first->ran);
  CHECK(first->result.outputs.at(0).payload() == "object");
  const auto second = run(action("a"));
  CHECK_FALSE(second->ran);
  CHECK(second->result.outputs.at(0).payload() == "object");
  CHECK(second->result.process.errors == "said");
  CHECK(runs() == 1);
}

TEST_CASE_FIXTURE(fixture, "one in flight a key: a failure reaches every waiter once") {
  status = 9;
  std::vector<waiting> all;
  for (int i = 0; i < 5; ++i)
    all.push_back(call(action("a")));
  scheduler.run();
  for (const auto& one_of : all) {
    REQUIRE(one_of->ready());
    const auto reply = one_of->wait();
    CHECK(reply->result.process.exit_status == 9);
    CHECK(reply->result.process.errors == "said");
  }
  CHECK(runs() == 1);
  CHECK(run(action("a"))->ran); // it was not kept
  CHECK(runs() == 2);
}

TEST_CASE_FIXTURE(fixture, "a failure is kept when the request says so, but no signal or timeout") {
  auto request = action("a");
  request.failures = action_request::failure_keeping::result;
  fakes.processes->answer = [](const process_request&) {
    process_result result;
    result.signal = 11;
    return result;
  };
  CHECK(run(request)->ran);
  fakes.processes->answer = [](const process_request&) {
    process_result result;
    result.timed_out = true;
    return result;
  };
  CHECK(run(request)->ran);
  fakes.processes->answer = [](const process_request&) {
    process_result result;
    result.exit_status = 3;
    return result;
  };
  CHECK(run(request)->ran);
  const auto found = run(request);
  CHECK_FALSE(found->ran);
  CHECK(found->result.process.exit_status == 3);
}

namespace {

struct watching_runner : actors::process_runner {
  expected<process_result> run(const process_request&, std::stop_token stop) override {
    started = true;
    stopped_at_start = stop.stop_requested();
    return process_result{};
  }
  bool started = false, stopped_at_start = false;
};

// Runs an action for this many scheduler steps, then withdraws its only waiter.
std::shared_ptr<watching_runner> withdraw_after(int steps, bool& has_started) {
  fixture f;
  const auto runner = std::make_shared<watching_runner>();
  auto ports = f.fakes.ports();
  ports.processes = runner;
  f.actions = services_over(f, f.one, ports).actions;
  const auto state = f.call(action("a"));
  for (int i = 0; i < steps; ++i)
    f.scheduler.try_run_once();
  has_started = runner->started;
  state->give_up();
  caf::anon_send(f.actions, verb::withdraw_v, f.k);
  f.scheduler.prioritize(f.actions);
  f.scheduler.run();
  return runner;
}

} // namespace

TEST_CASE("an action whose last waiter withdraws is not run or is told to stop at every step") {
  int not_run = 0, told_to_stop = 0;
  for (int steps = 0; steps < 100; ++steps) {
    CAPTURE(steps);
    bool has_started = false;
    const auto runner = withdraw_after(steps, has_started);
    if (has_started) break; // too late to withdraw
    CHECK((!runner->started || runner->stopped_at_start));
    ++(runner->started ? told_to_stop : not_run);
  }
  CHECK(not_run > 0);
  CHECK(told_to_stop > 0);
}

TEST_CASE_FIXTURE(fixture, "giving up leaves the other waiters of the same action") {
  auto gone = call(action("a"));
  auto stays = call(action("a"));
  gone->give_up();
  caf::anon_send(actions, verb::withdraw_v, k);
  scheduler.run();
  REQUIRE(stays->ready());
  CHECK(stays->wait()->result.outputs.size() == 1);
}

TEST_CASE_FIXTURE(fixture, "two processes that ask at once have it run once") {
  tiers other{*this, directory / "store"};
  const auto there = services_over(*this, other, fakes.ports()).actions;
  auto here = call(action("a"));
  auto state = std::make_shared<completion_state<action_reply>>();
  caf::anon_send(there, verb::run_v, k, action("a"), 0, action_completion(state));
  REQUIRE(run_until([&] { return here->ready() && state->ready(); }));
  CHECK(here->wait()->result.outputs.at(0).payload() == "object");
  CHECK(state->wait()->result.outputs.at(0).payload() == "object");
  CHECK(runs() == 1);
}

TEST_CASE_FIXTURE(fixture, "an observation leads to the result, and the latest comes first") {
  CHECK(run(discovering("a", "read 1"))->ran);
  const auto first = observed();
  CHECK(observations_in(first) == std::vector<std::string>{"read 1"});
  CHECK(ask<lookup>(one.shard, verb::get_v, actors::observed_key(k, "read 1"))->hit());
  auto next = discovering("a", "read 2");
  next.seen = digest_of(first);
  CHECK(run(next)->ran);
  CHECK(observations_in(observed()) == std::vector<std::string>{"read 2", "read 1"});
}

TEST_CASE_FIXTURE(fixture, "an observation is added to a set that another process stores first") {
  tiers other{*this, directory / "store"};
  const auto set = actors::observations_key(k);
  const auto store_theirs = [&] {
    member_set theirs;
    theirs.add({"theirs", "", 1});
    storage::write_request request{storage::write_kind::insert, storage::entry_key(set)};
    request.value = artifact::make(encode(theirs));
    other.store->apply(other.store->shard_of(set.disk_hash), {&request, 1});
    CHECK(request.status == storage::write_status::inserted);
  };
  // The first group that is written holds the result, the second the set.
  one.meddled->before_apply = [&] { one.meddled->before_apply = store_theirs; };
  const auto reply = run(discovering("a", "ours"));
  REQUIRE(reply);
  CHECK(reply->problem == "");
  CHECK(observations_in(observed()) == std::vector<std::string>{"ours", "theirs"});
}

TEST_CASE_FIXTURE(fixture, "observations of the earlier form count") {
  const auto list = derived_key(k, observation_list_part());
  const auto bytes = encode(value(value::array{binary{"read 1"}}));
  CHECK(ask<insert_outcome>(one.shard, verb::insert_v, list, artifact::make(bytes)));
  CHECK(run(discovering("a", "read 1"))->again); // the caller has not seen it
  CHECK(observations_in(observed()) == std::vector<std::string>{"read 1"});
  CHECK(runs() == 0);
}

TEST_CASE_FIXTURE(fixture, "a worker waits until the program may start, then starts it") {
  std::string order;
  auto request = action("a");
  request.before_start = [&] { order += "may "; };
  const auto answer = fakes.processes->answer;
  fakes.processes->answer = [&](const process_request& process) {
    order += "starts";
    return answer(process);
  };
  CHECK(run(request)->ran);
  CHECK(order == "may starts");
}

// What the run discovers may have changed before they asked.
TEST_CASE_FIXTURE(fixture, "those who ask after the start of a discovering run look again") {
  auto first = call(discovering("a", "read 1"));
  waiting second;
  const auto answer = fakes.processes->answer;
  fakes.processes->answer = [&](const process_request& request) {
    second = call(discovering("a", "read 1"));
    return answer(request);
  };
  scheduler.run();
  REQUIRE(first->ready());
  REQUIRE((second && second->ready()));
  CHECK(first->wait()->ran);
  CHECK(second->wait()->again);
  CHECK(runs() == 1);
}

TEST_CASE_FIXTURE(fixture, "a request that has not seen all observations is told to look again") {
  CHECK(run(discovering("a", "read 1"))->ran);
  const auto again = run(discovering("a", "read 1"));
  CHECK(again->again);
  REQUIRE(again->observations);
  CHECK(observations_in(*again->observations) == std::vector<std::string>{"read 1"});
  CHECK(runs() == 1);
}

TEST_CASE_FIXTURE(fixture, "observations are bounded: the earliest are dropped") {
  const auto max = observation_limits.members;
  for (std::size_t i = 0; i < max + 3; ++i) {
    auto request = discovering("a", "read " + std::to_string(i));
    request.seen = digest_of(observed());
    CHECK(run(request)->ran);
  }
  const auto all = observations_in(observed());
  CHECK(all.size() == max);
  CHECK(all.front() == "read " + std::to_string(max + 2));
  CHECK(all.back() == "read 3");
}

TEST_CASE_FIXTURE(fixture, "a result that must not be kept is answered with the reason") {
  auto request = discovering("a", "");
  request.observe = [](const action_request::run_record&) -> expected<std::string> {
    return fail(errc::busy, "a header changed");
  };
  const auto reply = run(request);
  CHECK(reply->result.outputs.size() == 1);
  CHECK(reply->problem == "a header changed");
  CHECK(run(request)->ran);
}

TEST_CASE_FIXTURE(fixture, "an entry that cannot be read is dropped and the action is run") {
  REQUIRE(ask<insert_outcome>(one.shard, verb::insert_v, k, artifact::make("no result")));
  CHECK(run(action("a"))->ran);
  CHECK_FALSE(run(action("a"))->ran);
}

TEST_CASE_FIXTURE(
    fixture, "a program that cannot be started is an error for every waiter and frees the lease") {
  fakes.processes->answer = [](const process_request&) -> expected<process_result> {
    return fail(errc::process_failed, "no such program");
  };
  CHECK(run(action("a")).error().code() == errc::process_failed);
  CHECK(ask<memory_shard_stats>(one.shard, verb::stats_v)->leases_held == 0);
}

} // namespace action_cache_test
