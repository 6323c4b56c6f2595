// A simulated cluster, reached by the router of the runtime.
#include "runtime/simulation/simulated_cluster.hpp"

#include "messages/key.hpp"
#include "runtime/simulation/world.hpp"
#include "storage/remote/entry_names.hpp"

#include <caf/send.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace simulated_cluster_test {

using namespace hearth;
using namespace hearth::simulation;
using namespace std::chrono_literals;
using actors::remote_client;
using actors::remote_failure;
using actors::remote_reply;

namespace {

constexpr std::size_t groups = 3;

// A cluster, and two clients of it.
struct fixture {
  stepped_system system;
  simulated_cluster cluster{system, "node", groups};
  std::shared_ptr<remote_connection> one = cluster.connect("one");
  std::shared_ptr<remote_connection> other = cluster.connect("other");

  ~fixture() {
    one->close();
    other->close();
  }
  void run_until(virtual_time end) {
    for (;;) {
      if (system.deliver_one()) continue;
      const auto next = system.next_event();
      if (!next || *next > end) return;
      system.advance_to(*next);
    }
  }
  remote_reply ask(remote_connection& by, remote_client::command command) {
    const auto lane =
        command[0] == "GET" ? remote_client::lane::reads : remote_client::lane::writes;
    std::optional<remote_reply> got;
    by.send(lane, std::move(command), 5'000ms, [&](remote_reply reply) { got = std::move(reply); });
    run_until(system.now() + 10s);
    REQUIRE(got);
    return *got;
  }
  std::size_t group_of(const std::string& name) {
    for (std::size_t group = 0; group < groups; ++group)
      if (&cluster.leader(group) == &cluster.leader_of(name)) return group;
    return groups;
  }
};

} // namespace

TEST_CASE_FIXTURE(fixture, "a client finds what another one stored, whichever node has it") {
  for (int i = 0; i < 20; ++i) {
    const auto name = "n" + std::to_string(i);
    CHECK(ask(*one, {"SET", name, "v" + name}).failure == remote_failure::none);
    CHECK(ask(*other, {"GET", name}).value.text == "v" + name);
  }
  for (std::size_t group = 0; group < groups; ++group)
    CHECK(cluster.leader(group).names().size() > 0);
}

TEST_CASE_FIXTURE(fixture, "slots that move are followed, with what is in them") {
  (void)ask(*one, {"SET", "name", "value"});
  const auto to = (group_of("name") + 1) % groups;
  const auto part =
      std::size_t{storage::slot_of("name")} * simulated_cluster::parts / storage::cluster_slots;
  cluster.move_slots(part, to);
  CHECK(group_of("name") == to);
  CHECK(ask(*one, {"GET", "name"}).value.text == "value");
  CHECK(ask(*other, {"GET", "name"}).value.text == "value");
}

TEST_CASE_FIXTURE(fixture, "a replica that leads has what its master had, or what that kept last") {
  (void)ask(*one, {"SET", "name", "old"});
  const auto group = group_of("name");
  cluster.leader(group).save();
  (void)ask(*one, {"SET", "name", "new"});
  SUBCASE("all of it") {
    cluster.fail_over(group, false);
    CHECK(ask(*one, {"GET", "name"}).value.text == "new");
  }
  SUBCASE("what it kept") {
    cluster.fail_over(group, true);
    CHECK(ask(*one, {"GET", "name"}).value.text == "old");
  }
}

TEST_CASE_FIXTURE(fixture, "a node that is ill costs its slots alone, until its replica leads") {
  std::string here = "a", there = "b";
  while (group_of(here) == group_of(there))
    there += "b";
  (void)ask(*one, {"SET", here, "1"});
  (void)ask(*one, {"SET", there, "2"});
  cluster.leader(group_of(here)).behave({redis_behavior::kind::refuses, {}, {}, {}});
  CHECK(ask(*one, {"GET", here}).failure == remote_failure::node);
  CHECK(ask(*one, {"GET", there}).value.text == "2");
  cluster.fail_over(group_of(here), false);
  (void)ask(*one, {"GET", here}); // it may not know yet
  CHECK(ask(*one, {"GET", here}).value.text == "1");
}

TEST_CASE_FIXTURE(fixture, "what a minority was given is lost when its replica leads") {
  (void)ask(*one, {"SET", "name", "before"});
  const auto group = group_of("name");
  cluster.split(group, {"one"});
  CHECK(ask(*one, {"SET", "name", "apart"}).failure == remote_failure::none);
  CHECK(ask(*one, {"GET", "name"}).value.text == "apart");
  cluster.fail_over(group, true);
  (void)ask(*other, {"GET", "name"});
  CHECK(ask(*other, {"GET", "name"}).value.text == "before");
  cluster.stop_minority();
  CHECK(ask(*one, {"GET", "name"}).failure != remote_failure::none);
  cluster.join();
  (void)ask(*one, {"GET", "name"});
  CHECK(ask(*one, {"GET", "name"}).value.text == "before");
}

// Whoever finds a mark, reads the log: the removal has to be in it.
TEST_CASE("in a cluster a removal is in the log before its mark is there") {
  world all;
  all.add_host("host");
  all.add_cluster("redis", groups);
  process_options options;
  options.remote.server = "redis";
  auto& process = all.add_process("p", "host", options);
  const cache_key erased(*all.cache("tunes", "0"), key("k").encoded());
  const auto name = storage::remote_entry_name(all.naming_of("redis"), erased);
  std::vector<std::string> carried_out;
  all.system().set_trace([&](const std::string& line) {
    if (line.find(": run \"XADD") != std::string::npos) {
      carried_out.push_back("log");
    } else if (line.find(": run \"SET hearth:tunes") != std::string::npos) {
      CHECK_FALSE(all.cluster("redis").leader_of(name).find(name));
      carried_out.push_back("mark");
    }
  });
  caf::anon_send(process.owner(actor_kind::memory, &erased), verb::erase_v, erased);
  while (!all.cluster("redis").leader_of(name).find(name) || carried_out.size() < 3) {
    if (all.system().deliver_one()) continue;
    const auto next = all.system().next_event();
    REQUIRE(next);
    REQUIRE(*next < 60s);
    all.system().advance_to(*next);
  }
  CHECK(carried_out == std::vector<std::string>{"log", "mark", "log"});
  CHECK(all.stop(process));
}

} // namespace simulated_cluster_test
