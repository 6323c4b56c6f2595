// Commands to a real Redis Cluster: every node, redirects, moved slots, failed nodes.
#include "storage/resp/cluster_slots.hpp"
#include "tests/support/asker.hpp"
#include "tests/support/fault_proxy.hpp"
#include "tests/support/local_cluster.hpp"
#include "tests/support/local_redis.hpp"

#include <atomic>
#include <functional>
#include <set>
#include <thread>
#include <utility>

namespace cluster_test {

using namespace hearth;
using namespace hearth::net;
using namespace hearth::test;
using storage::slot_of;

namespace {

// A name in a slot of the master with this number.
std::string name_at(std::size_t master, const std::string& start = "k") {
  constexpr auto masters = local_cluster::masters;
  for (int i = 0;; ++i) {
    auto name = start + std::to_string(i);
    if (slot_of(name) * masters / storage::cluster_slots == master) return name;
  }
}

// Asks until the reply is as wanted.
template <class Condition>
remote_reply ask_until(remote_client& server, const remote_client::command& words,
                       Condition is_wanted) {
  const auto limit = std::chrono::steady_clock::now() + 60s;
  for (;;) {
    auto reply = ask(server, words);
    if (is_wanted(reply)) return reply;
    REQUIRE_MESSAGE(std::chrono::steady_clock::now() < limit, reply.problem);
  }
}

bool has_no_failure(const remote_reply& reply) { return reply.failure == remote_failure::none; }

// `between`: called once, when a part was read.
std::set<std::string> scanned(remote_client& server, const std::string& pattern,
                              std::function<void()> between = nullptr) {
  std::set<std::string> names;
  std::string cursor = "0";
  do {
    const auto reply = ask(server, {"SCAN", cursor, "MATCH", pattern, "COUNT", "10"});
    REQUIRE(is_ok(reply));
    REQUIRE(reply.value.items.size() == 2);
    cursor = reply.value.items[0].text;
    for (const auto& name : reply.value.items[1].items)
      names.insert(name.text);
    if (between && !names.empty()) std::exchange(between, nullptr)();
  } while (cursor != "0");
  return names;
}

} // namespace

TEST_CASE("cluster: names are written, read and scanned on all nodes") {
  const local_cluster cluster({.password = "s3cret"});
  const auto server = connected(cluster.url());
  constexpr int count = 300;
  std::set<std::string> names;
  for (int i = 0; i < count; ++i)
    names.insert("k" + std::to_string(i));
  std::vector<std::future<remote_reply>> writes;
  for (const auto& name : names)
    writes.push_back(ask_later(*server, {"SET", name, "of " + name}, patient, lane::writes));
  for (auto& one : writes)
    REQUIRE(is_ok(answer_of(std::move(one))));
  for (const auto& name : names)
    REQUIRE(ask(*server, {"GET", name}).value.text == "of " + name);
  CHECK(scanned(*server, "k*") == names);
  std::size_t total = 0;
  for (std::size_t i = 0; i < local_cluster::masters; ++i) {
    const auto size = std::stoul(cluster.ask(i, {"DBSIZE"}));
    CHECK(size > 0);
    total += size;
  }
  CHECK(total == names.size());
  CHECK(is_ok(ask(*server, {"PING"})));
  CHECK(ask(*server, {"EVAL", "return redis.call('GET', KEYS[1])", "1", "k7"}).value.text ==
        "of k7");
  const auto wrong = ask(*server, {"HGETALL", "k7"});
  CHECK(wrong.value.text.starts_with("WRONGTYPE"));
  CHECK(wrong.problem.find(":") != std::string::npos); // which node said it
}

TEST_CASE("cluster: a scan of all nodes finds the names of a slot that moves meanwhile") {
  const local_cluster cluster;
  const auto server = connected(cluster.url());
  std::set<std::string> names;
  for (std::size_t master = 0; master < local_cluster::masters; ++master) {
    const auto name = name_at(master);
    for (int i = 0; i < 200; ++i)
      names.insert("{" + name + "}" + std::to_string(i));
  }
  for (const auto& name : names)
    REQUIRE(is_ok(ask(*server, {"SET", name, "x"}, patient, lane::writes)));
  for (std::size_t to = 0; to < local_cluster::masters; ++to) {
    // To each node in turn, so that one move is to a node that was asked already.
    const auto from = (to + 1) % local_cluster::masters;
    const auto slot = slot_of(name_at(from));
    CHECK(scanned(*server, "*", [&] { cluster.move_slot(slot, from, to); }) == names);
    cluster.move_slot(slot, to, from);
  }
}

TEST_CASE("cluster: a moved slot is followed, and its writes stay in order") {
  const local_cluster cluster;
  const auto server = connected(cluster.url());
  const auto name = name_at(0);
  const auto slot = slot_of(name);
  REQUIRE(is_ok(ask(*server, {"SET", name, "start"})));
  const auto tagged = [&](int i) { return "{" + name + "}" + std::to_string(i); };
  for (int i = 0; i < 200; ++i)
    REQUIRE(is_ok(ask(*server, {"SET", tagged(i), std::to_string(i)})));

  // While the slot moves there and back, one thread appends numbers, another reads.
  std::atomic<bool> is_over = false;
  std::string expected;
  std::thread writer([&] {
    for (int i = 0; !is_over; ++i) {
      std::vector<std::future<remote_reply>> some;
      for (int k = 0; k < 20; ++k) {
        const auto part = std::to_string(i * 20 + k) + ",";
        expected += part;
        some.push_back(
            ask_later(*server, {"APPEND", "{" + name + "}list", part}, patient, lane::writes));
      }
      for (auto& one : some)
        REQUIRE(is_ok(answer_of(std::move(one))));
    }
  });
  std::thread reader([&] {
    for (int i = 0; !is_over; i = (i + 1) % 200)
      REQUIRE(ask(*server, {"GET", tagged(i)}).value.text == std::to_string(i));
  });
  for (int round = 0; round < 3; ++round) {
    cluster.move_slot(slot, 0, 1);
    cluster.move_slot(slot, 1, 2);
    cluster.move_slot(slot, 2, 0);
  }
  is_over = true;
  writer.join();
  reader.join();
  CHECK(ask(*server, {"GET", "{" + name + "}list"}).value.text == expected);
}

TEST_CASE("cluster: what is sent together is carried out in order, on all nodes") {
  const local_cluster cluster;
  const auto server = connected(cluster.url());
  const auto first = name_at(0), second = name_at(1), log = name_at(2);
  // They are on three nodes, which answer in any order unless each waits for the one before.
  for (int i = 0; i < 50; ++i) {
    std::vector<std::size_t> order;
    std::promise<void> ended;
    server->send_all(lane::writes,
                     {{"SET", first, std::to_string(i)}, {"APPEND", second, "x"}, {"INCR", log}},
                     patient, [&](std::size_t which, const remote_reply& reply) {
                       CHECK(reply.failure == remote_failure::none);
                       order.push_back(which);
                       if (order.size() == 3) ended.set_value();
                     });
    REQUIRE(ended.get_future().wait_for(60s) == std::future_status::ready);
    CHECK(order == std::vector<std::size_t>{0, 1, 2});
  }
  // A write that is lost takes those behind it with it.
  cluster.node(0).kill();
  std::vector<remote_failure> failures(3, remote_failure::none);
  std::promise<void> ended;
  std::size_t count = 0;
  server->send_all(lane::writes, {{"SET", first, "lost"}, {"APPEND", second, "y"}, {"INCR", log}},
                   50ms, [&](std::size_t which, const remote_reply& reply) {
                     failures[which] = reply.failure;
                     if (++count == 3) ended.set_value();
                   });
  REQUIRE(ended.get_future().wait_for(60s) == std::future_status::ready);
  for (const auto failure : failures)
    CHECK(failure != remote_failure::none);
  CHECK(ask(*server, {"GET", second}).value.text == std::string(50, 'x'));
  CHECK(ask(*server, {"GET", log}).value.text == "50");
}

TEST_CASE("cluster: a master that is killed costs its slots alone, until its replica leads") {
  const local_cluster cluster({.node_timeout = 2s});
  const auto server = connected(cluster.url());
  for (std::size_t i = 0; i < local_cluster::masters; ++i)
    REQUIRE(is_ok(ask(*server, {"SET", name_at(i), "there"})));
  cluster.wait_for_replica(0);
  cluster.node(0).kill();
  // What any node can answer, another answers.
  for (std::size_t i = 0; i < local_cluster::masters; ++i)
    CHECK(is_ok(ask(*server, {"PING"})));
  const auto lost = ask(*server, {"GET", name_at(0)});
  CHECK(lost.failure == remote_failure::node);
  CHECK(lost.problem.find('\n') == std::string::npos);
  for (std::size_t i = 1; i < local_cluster::masters; ++i)
    CHECK(ask(*server, {"GET", name_at(i)}).value.text == "there");
  // A write waits for the new master.
  CHECK(is_ok(ask(*server, {"SET", name_at(0, "w"), "waited"}, patient, lane::writes)));
  CHECK(cluster.leader_of(slot_of(name_at(0)), 1) == local_cluster::masters);
  CHECK(ask_until(*server, {"GET", name_at(0)}, has_no_failure).value.text == "there");
  CHECK(ask(*server, {"GET", name_at(0, "w")}).value.text == "waited");
}

TEST_CASE("cluster: a node that never answers costs one deadline, and is used again") {
  const local_cluster cluster({.node_timeout = 60s});
  const auto server = connected(cluster.url());
  for (std::size_t i = 0; i < local_cluster::masters; ++i)
    REQUIRE(is_ok(ask(*server, {"GET", name_at(i)})));
  auto& ill = cluster.node(0);
  ill.freeze();
  const auto late = ask(*server, {"GET", name_at(0)}, 100ms);
  CHECK(late.failure == remote_failure::node);
  // Now it fails at once, whatever the deadline.
  const auto next = ask(*server, {"GET", name_at(0)}, patient);
  CHECK(next.failure == remote_failure::node);
  CHECK(next.problem.find("is ill") != std::string::npos);
  CHECK(is_ok(ask(*server, {"GET", name_at(1)})));
  ill.thaw();
  ask_until(*server, {"GET", name_at(0)}, has_no_failure);
}

TEST_CASE("cluster: a node that refuses writes has its own wait, and nobody else's") {
  const local_cluster cluster;
  const auto server = connected(cluster.url());
  const auto set = [&](std::size_t master, const std::string& value,
                       std::chrono::milliseconds deadline = patient) {
    return ask_later(*server, {"SET", name_at(master), value}, deadline, lane::writes);
  };
  for (std::size_t i = 0; i < local_cluster::masters; ++i)
    REQUIRE(is_ok(answer_of(set(i, "before"))));
  (void)cluster.ask(0, {"CONFIG", "SET", "maxmemory", "1"});
  auto first = set(0, "first");
  auto second = set(0, "second");
  // A process whose first write it is does not know the other nodes yet.
  const auto young = connected(cluster.url());
  CHECK(ask(*young, {"SET", name_at(0), "young"}, 300ms, lane::writes).failure ==
        remote_failure::node);
  const auto late = answer_of(set(0, "late", 300ms));
  CHECK(late.failure == remote_failure::node);
  CHECK(late.problem.find("takes no writes: OOM command not allowed") != std::string::npos);
  CHECK(is_ok(answer_of(set(1, "other"))));
  CHECK(is_ok(answer_of(set(2, "other"))));
  CHECK(ask(*server, {"GET", name_at(0)}).value.text == "before");
  (void)cluster.ask(0, {"CONFIG", "SET", "maxmemory", "0"});
  CHECK(is_ok(answer_of(std::move(first))));
  CHECK(is_ok(answer_of(std::move(second))));
  CHECK(ask(*server, {"GET", name_at(0)}).value.text == "second");
}

TEST_CASE("cluster: a node that refuses writes of a slot that moves to it is waited for as well") {
  const local_cluster cluster;
  const auto server = connected(cluster.url());
  const auto name = name_at(0);
  const auto slot = std::to_string(slot_of(name));
  for (std::size_t i = 0; i < local_cluster::masters; ++i)
    REQUIRE(is_ok(ask(*server, {"GET", name_at(i)})));
  (void)cluster.ask(1,
                    {"CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.ask(0, {"CLUSTER", "MYID"})});
  (void)cluster.ask(0,
                    {"CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.ask(1, {"CLUSTER", "MYID"})});
  (void)cluster.ask(1, {"CONFIG", "SET", "maxmemory", "1"});
  auto moved = ask_later(*server, {"SET", name, "moved"}, patient, lane::writes);
  // Long enough to be sent more often than redirects are followed.
  const auto late = ask(*server, {"SET", name_at(1), "late"}, 2s, lane::writes);
  CHECK(late.failure == remote_failure::node);
  REQUIRE(moved.wait_for(0s) == std::future_status::timeout);
  (void)cluster.ask(1, {"CONFIG", "SET", "maxmemory", "0"});
  CHECK(is_ok(answer_of(std::move(moved))));
  CHECK(ask(*server, {"GET", name}).value.text == "moved");
}

TEST_CASE("cluster: if all nodes refuse writes, the refusal is told") {
  const local_cluster cluster;
  const auto server = connected(cluster.url());
  for (std::size_t i = 0; i < local_cluster::masters; ++i) {
    REQUIRE(is_ok(ask(*server, {"GET", name_at(i)})));
    (void)cluster.ask(i, {"CONFIG", "SET", "maxmemory", "1"});
  }
  std::vector<std::future<remote_reply>> writes;
  for (std::size_t i = 0; i < local_cluster::masters; ++i)
    writes.push_back(ask_later(*server, {"SET", name_at(i), "x"}, 1s, lane::writes));
  std::size_t told = 0;
  for (auto& one : writes) {
    const auto reply = answer_of(std::move(one));
    CHECK(reply.problem.find("OOM command not allowed") != std::string::npos);
    told += reply.failure == remote_failure::refused ? 1 : 0;
  }
  CHECK(told == 1); // by the last one
}

TEST_CASE("cluster: without any node it is unreachable, and it is found again") {
  const local_cluster cluster;
  const auto server = connected(cluster.url());
  REQUIRE(is_ok(ask(*server, {"SET", name_at(0), "x"})));
  for (std::size_t i = 0; i < local_cluster::nodes; ++i)
    cluster.node(i).kill();
  ask_until(*server, {"GET", name_at(0)},
            [](const auto& reply) { return reply.failure == remote_failure::unreachable; });
  for (std::size_t i = 0; i < local_cluster::nodes; ++i)
    cluster.node(i).start();
  ask_until(*server, {"GET", name_at(0)}, has_no_failure); // empty: these nodes keep nothing
  const auto other = connected(cluster.url());
  server->close();
  CHECK(ask(*server, {"GET", name_at(0)}).failure == remote_failure::closed);
  ask_until(*other, {"GET", name_at(0)}, has_no_failure);
}

TEST_CASE("cluster: what is no cluster, or nothing at all, is unreachable with the reason") {
  const local_redis redis({.tcp = true});
  const auto single = connected("redis+cluster://127.0.0.1:" + std::to_string(redis.port()));
  const auto told = ask(*single, {"GET", "k"});
  CHECK(told.failure == remote_failure::unreachable);
  CHECK(told.problem.find("cluster support disabled") != std::string::npos);
  const claimed_port port;
  const auto nobody = connected("redis+cluster://127.0.0.1:" + std::to_string(port.number()));
  CHECK(ask(*nobody, {"GET", "k"}).failure == remote_failure::unreachable);
  CHECK(ask(*nobody, {"GET", "k"}, 0ms).failure == remote_failure::timeout);
}

namespace {

// A node by itself that is reached through a proxy, and tells of its place.
class proxied_node {
public:
  proxied_node() {
    const auto direct = connected("redis://127.0.0.1:" + std::to_string(redis_.port()));
    REQUIRE(is_ok(ask(*direct, {"CONFIG", "SET", "cluster-announce-ip", "127.0.0.1"})));
    REQUIRE(is_ok(
        ask(*direct, {"CONFIG", "SET", "cluster-announce-port", std::to_string(proxy_.port())})));
  }

  std::uint16_t port() const { return proxy_.port(); }
  fault_proxy& proxy() { return proxy_; }
  void lead_all() const {
    const auto direct = connected("redis://127.0.0.1:" + std::to_string(redis_.port()));
    REQUIRE(is_ok(ask(*direct, {"CLUSTER", "ADDSLOTSRANGE", "0", "16383"})));
    const auto limit = std::chrono::steady_clock::now() + 60s;
    while (ask(*direct, {"CLUSTER", "INFO"}).value.text.find("cluster_state:ok") ==
           std::string::npos)
      REQUIRE(std::chrono::steady_clock::now() < limit);
  }

private:
  redis_setup setup() const {
    redis_setup made;
    made.tcp = true;
    made.arguments = {"--cluster-enabled", "yes", "--cluster-port", std::to_string(bus_.number())};
    return made;
  }

  claimed_port bus_;
  local_redis redis_{setup()};
  fault_proxy proxy_{redis_.port()};
};

std::string place_of(const proxied_node& node) {
  return "127.0.0.1:" + std::to_string(node.port());
}

} // namespace

TEST_CASE("cluster: the leader is found though a former master tells that it leads all") {
  proxied_node leader;
  leader.lead_all();
  // The former master leads nothing, and tells that it leads all. It is the one that is asked
  // first.
  std::vector<std::unique_ptr<proxied_node>> former;
  do
    former.push_back(std::make_unique<proxied_node>());
  while (former.back()->port() < leader.port());
  const auto port = std::to_string(former.back()->port());
  former.back()->proxy().answer(
      "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:" + port + "\r\n", {"CLUSTER"});
  const auto server =
      connected("redis+cluster://" + place_of(*former.back()) + "," + place_of(leader));
  CHECK(is_ok(ask(*server, {"SET", "k", "v"}, patient, lane::writes)));
  CHECK(ask(*server, {"GET", "k"}).value.text == "v");
}

TEST_CASE("cluster: a write that a later one of its name has overtaken is not sent again") {
  proxied_node node;
  node.lead_all();
  const auto server = connected("redis+cluster://" + place_of(node));
  REQUIRE(is_ok(ask(*server, {"PING"})));
  node.proxy().error("CLUSTERDOWN The cluster is down", {"SET"});
  std::promise<remote_reply> first, second;
  server->send_all(lane::writes, {{"SET", "k", "old"}, {"DEL", "k"}}, patient,
                   [&](std::size_t place, remote_reply reply) {
                     (place == 0 ? first : second).set_value(std::move(reply));
                   });
  CHECK(is_ok(answer_of(second.get_future())));
  const auto overtaken = answer_of(first.get_future());
  CHECK(overtaken.failure == remote_failure::node);
  CHECK(overtaken.problem == "a later write was carried out before it");
  node.proxy().heal();
  CHECK(ask(*server, {"GET", "k"}).value.is_null());
}

TEST_CASE("cluster: an erase that an earlier write of its name waits behind is carried out again") {
  proxied_node node;
  node.lead_all();
  const auto server = connected("redis+cluster://" + place_of(node));
  REQUIRE(is_ok(ask(*server, {"SADD", "s", "old"})));
  node.proxy().error("CLUSTERDOWN The cluster is down", {"SADD"});
  const auto before = node.proxy().commands();
  std::promise<remote_reply> add, erase;
  auto erased = erase.get_future();
  server->send_all(lane::writes, {{"SADD", "s", "new"}, {"DEL", "s"}}, patient,
                   [&](std::size_t place, remote_reply reply) {
                     (place == 0 ? add : erase).set_value(std::move(reply));
                   });
  while (node.proxy().commands() < before + 2)
    REQUIRE(erased.wait_for(1ms) == std::future_status::timeout);
  REQUIRE(is_ok(ask(*server, {"PING"})));
  node.proxy().heal();
  CHECK(is_ok(answer_of(add.get_future())));
  CHECK(is_ok(answer_of(std::move(erased))));
  CHECK(ask(*server, {"EXISTS", "s"}).value.integer == 0);
}

TEST_CASE("cluster: a node that leads nothing any more is left") {
  proxied_node first, former, next;
  former.lead_all();
  next.lead_all();
  const auto tell = [&](const proxied_node& leader) {
    const auto port = std::to_string(leader.port());
    first.proxy().answer("*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:" + port + "\r\n",
                         {"CLUSTER"});
  };
  tell(former);
  const auto server = connected("redis+cluster://" + place_of(first));
  REQUIRE(is_ok(ask(*server, {"SET", "k", "former"}, patient, lane::writes)));
  CHECK(former.proxy().open_connections() > 0);
  tell(next);
  former.proxy().error("MOVED " + std::to_string(slot_of("k")) + " " + place_of(next));
  CHECK(ask(*server, {"GET", "k"}).value.is_null());
  const auto limit = std::chrono::steady_clock::now() + 60s;
  while (former.proxy().open_connections() > 0) { // for ten seconds
    REQUIRE(std::chrono::steady_clock::now() < limit);
    (void)ask(*server, {"BLPOP", "none", "0.1"});
  }
  REQUIRE(is_ok(ask(*server, {"SET", "k", "next"}, patient, lane::writes)));
  CHECK(ask(*server, {"GET", "k"}).value.text == "next");
}

TEST_CASE(
    "cluster: a write that waits for the cluster is not overtaken by the next one of its name") {
  for (int round = 0; round < 5; ++round) {
    proxied_node node;
    node.lead_all();
    const auto server = connected("redis+cluster://" + place_of(node));
    REQUIRE(is_ok(ask(*server, {"PING"})));
    node.proxy().error("CLUSTERDOWN The cluster is down", {"SET"});
    std::promise<remote_reply> first, behind;
    auto old = first.get_future();
    server->send_all(lane::writes, {{"SET", "k", "old"}, {"GET", "k"}}, patient,
                     [&](std::size_t place, remote_reply reply) {
                       (place == 0 ? first : behind).set_value(std::move(reply));
                     });
    // Answered behind the refusal on the same connection: the first write waits now.
    const auto found = answer_of(behind.get_future());
    REQUIRE(is_ok(found));
    REQUIRE(found.value.is_null());
    REQUIRE(old.wait_for(0ms) == std::future_status::timeout);
    node.proxy().heal();
    auto next = ask_later(*server, {"SET", "k", "new"}, patient, lane::writes);
    CHECK(is_ok(answer_of(std::move(old))));
    CHECK(is_ok(answer_of(std::move(next))));
    CHECK(ask(*server, {"GET", "k"}).value.text == "new");
  }
}

} // namespace cluster_test
