// The master that real sentinels watch: found, and followed when another server becomes it.
#include "tests/support/asker.hpp"
#include "tests/support/local_redis.hpp"

#include <memory>
#include <vector>

namespace sentinel_test {

using namespace hearth;
using namespace hearth::net;
using namespace hearth::test;

namespace {

// A master, its replica, and three sentinels that watch them.
class watched_pair {
public:
  explicit watched_pair(const std::string& password = {}) {
    master_ = make_server({"--repl-diskless-sync-delay", "0"}, password);
    const auto port = std::to_string(master_->port());
    replica_ = make_server({"--replicaof", "127.0.0.1 " + port}, password);
    for (int i = 0; i < 3; ++i) {
      sentinels_.push_back(make_sentinel());
      tell(i, {"SENTINEL", "MONITOR", "fleet", "127.0.0.1", port, "2"});
      tell(i, {"SENTINEL", "SET", "fleet", "down-after-milliseconds", "300"});
      tell(i, {"SENTINEL", "SET", "fleet", "failover-timeout", "5000"});
      if (!password.empty()) tell(i, {"SENTINEL", "SET", "fleet", "auth-pass", password});
    }
    // They have found each other and the replica.
    for (int i = 0; i < 3; ++i) {
      wait_for(i, {"SENTINEL", "SENTINELS", "fleet"}, 2);
      wait_for(i, {"SENTINEL", "REPLICAS", "fleet"}, 1);
    }
  }

  local_redis& master() const { return *master_; }
  local_redis& replica() const { return *replica_; }
  local_redis& sentinel(std::size_t index) const { return *sentinels_[index]; }
  std::string url(const std::string& login = {}) const {
    std::string hosts;
    for (const auto& one : sentinels_)
      hosts.append(hosts.empty() ? "" : ",").append("127.0.0.1:" + std::to_string(one->port()));
    return "redis+sentinel://" + login + hosts + "/fleet";
  }

private:
  static std::unique_ptr<local_redis> make_server(std::vector<std::string> arguments,
                                                  const std::string& password) {
    redis_setup setup;
    setup.tcp = true;
    setup.password = password;
    setup.arguments = std::move(arguments);
    if (!password.empty())
      setup.arguments.insert(setup.arguments.end(), {"--masterauth", password});
    return std::make_unique<local_redis>(std::move(setup));
  }

  std::unique_ptr<local_redis> make_sentinel() {
    redis_setup setup;
    setup.tcp = true;
    setup.is_sentinel = true;
    return std::make_unique<local_redis>(std::move(setup));
  }

  storage::resp_value tell(int index, remote_client::command words) const {
    const auto server = connected("redis://127.0.0.1:" +
                                  std::to_string(sentinel(static_cast<std::size_t>(index)).port()));
    auto reply = ask(*server, std::move(words));
    REQUIRE_MESSAGE(reply.failure == remote_failure::none, reply.problem);
    return reply.value;
  }

  void wait_for(int index, const remote_client::command& words, std::size_t count) const {
    const auto limit = std::chrono::steady_clock::now() + 60s;
    while (tell(index, words).items.size() < count)
      REQUIRE(std::chrono::steady_clock::now() < limit);
  }

  std::unique_ptr<local_redis> master_, replica_;
  std::vector<std::unique_ptr<local_redis>> sentinels_;
};

// The port of the server that answers; 0 while none does.
std::int64_t port_of(remote_client& server) {
  const auto reply = ask(server, {"CONFIG", "GET", "port"});
  if (reply.failure != remote_failure::none) return 0;
  REQUIRE(reply.value.items.size() == 2);
  return std::stoll(reply.value.items[1].text);
}

} // namespace

TEST_CASE("sentinel: the master is found, and followed when it fails") {
  const watched_pair pair;
  const auto server = connected(pair.url());
  REQUIRE(is_ok(ask(*server, {"SET", "k", "v"}, patient, lane::writes)));
  CHECK(port_of(*server) == pair.master().port());
  REQUIRE(ask(*server, {"WAIT", "1", "30000"}, patient, lane::writes).value.integer == 1);
  pair.sentinel(0).kill(); // two are enough
  pair.master().kill();
  const auto limit = std::chrono::steady_clock::now() + 60s;
  for (;;) {
    if (ask(*server, {"SET", "k2", "v2"}, patient, lane::writes).failure == remote_failure::none)
      break;
    REQUIRE(std::chrono::steady_clock::now() < limit);
  }
  CHECK(port_of(*server) == pair.replica().port());
  CHECK(ask(*server, {"GET", "k"}).value.text == "v");
}

TEST_CASE("sentinel: a master that became a replica is left, whoever tells first") {
  const watched_pair pair("s3cret");
  const auto server = connected(pair.url("s3cret@"));
  REQUIRE(is_ok(ask(*server, {"SET", "k", "v"}, patient, lane::writes)));
  const auto teller = connected("redis://127.0.0.1:" + std::to_string(pair.sentinel(1).port()));
  REQUIRE(is_ok(ask(*teller, {"SENTINEL", "FAILOVER", "fleet"})));
  const auto limit = std::chrono::steady_clock::now() + 60s;
  while (port_of(*server) != pair.replica().port() ||
         ask(*server, {"SET", "k", "w"}, patient, lane::writes).failure != remote_failure::none)
    REQUIRE(std::chrono::steady_clock::now() < limit);
  CHECK(ask(*server, {"GET", "k"}).value.text == "w");
}

TEST_CASE("sentinel: without sentinels, or with another master's name, the reason is told") {
  const watched_pair pair;
  auto url = pair.url();
  const auto other = connected(url.replace(url.rfind('/'), std::string::npos, "/other"));
  const auto unknown = ask(*other, {"GET", "k"});
  CHECK(unknown.failure == remote_failure::unreachable);
  CHECK(unknown.problem.find("other") != std::string::npos);
  CHECK(unknown.problem.find("does not know this master") != std::string::npos);
  const claimed_port port;
  const auto nobody =
      connected("redis+sentinel://127.0.0.1:" + std::to_string(port.number()) + "/fleet");
  CHECK(ask(*nobody, {"GET", "k"}).failure == remote_failure::unreachable);
}

} // namespace sentinel_test
