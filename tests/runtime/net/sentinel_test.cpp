// The master that real sentinels watch: found, and followed when another server becomes it.
#include "tests/support/asker.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/fault_proxy.hpp"
#include "tests/support/local_redis.hpp"

#include <memory>
#include <vector>

namespace sentinel_test {

using namespace hearth;
using namespace hearth::net;
using namespace hearth::test;

namespace {

struct watch_setup {
  std::string password{};
  redis_setup sentinels{}; // with TLS or not
  redis_setup servers{};
};

// A master, its replica, and three sentinels that watch them. With TLS all of them speak it to each
// other.
class watched_pair {
public:
  explicit watched_pair(const watch_setup& how = {}) {
    const auto& password = how.password;
    master_ = make_server(how, {"--repl-diskless-sync-delay", "0"});
    const auto port = std::to_string(port_of(*master_));
    replica_ = make_server(how, {"--replicaof", "127.0.0.1 " + port});
    for (int i = 0; i < 3; ++i) {
      sentinels_.push_back(make_sentinel(how));
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
      hosts.append(hosts.empty() ? "" : ",").append("127.0.0.1:" + std::to_string(port_of(*one)));
    const std::string scheme = master_->tls_port() != 0 ? "rediss" : "redis";
    return scheme + "+sentinel://" + login + hosts + "/fleet";
  }

private:
  static std::uint16_t port_of(const local_redis& server) {
    return server.tls_port() != 0 ? server.tls_port() : server.port();
  }

  static std::unique_ptr<local_redis> make_one(redis_setup setup) {
    setup.tcp = true;
    if (setup.tls) setup.arguments.insert(setup.arguments.end(), {"--tls-replication", "yes"});
    return std::make_unique<local_redis>(std::move(setup));
  }

  static std::unique_ptr<local_redis> make_server(const watch_setup& how,
                                                  std::vector<std::string> arguments) {
    auto setup = how.servers;
    setup.password = how.password;
    setup.arguments = std::move(arguments);
    if (!how.password.empty())
      setup.arguments.insert(setup.arguments.end(), {"--masterauth", how.password});
    return make_one(std::move(setup));
  }

  static std::unique_ptr<local_redis> make_sentinel(const watch_setup& how) {
    auto setup = how.sentinels;
    setup.is_sentinel = true;
    return make_one(std::move(setup));
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
  const watched_pair pair({.password = "s3cret"});
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

TEST_CASE(
    "sentinel: with TLS the master is found and followed, and all certificates are verified") {
  const temporary_directory directory;
  certificate_authority ours(directory.path(), "ours");
  const auto by = [&](const std::string& name, const std::string& names, bool asks_clients) {
    const auto files = ours.issue(name, names);
    redis_setup setup;
    setup.tls = true;
    setup.certificate = files.certificate;
    setup.key = files.key;
    setup.ca = ours.file();
    setup.ask_clients = asks_clients;
    return setup;
  };
  // Servers present their certificate to each other, too.
  const watched_pair pair({.password = "s3cret",
                           .sentinels = by("sentinel", "IP:127.0.0.1", true),
                           .servers = by("server", "IP:127.0.0.1", true)});
  const auto client = ours.issue("client", "DNS:client");
  auto endpoint = *parse_remote_url(pair.url("s3cret@"));
  endpoint.ca_file = ours.file();
  const auto nobody = *connect_redis(endpoint); // without a certificate
  CHECK(ask(*nobody, {"GET", "k"}).failure == remote_failure::unreachable);
  endpoint.certificate_file = client.certificate;
  endpoint.key_file = client.key;
  pair.sentinel(0).freeze(); // accepts and never answers; two are enough
  const auto server = *connect_redis(endpoint);
  REQUIRE(is_ok(ask(*server, {"SET", "k", "v"}, patient, lane::writes)));
  REQUIRE(ask(*server, {"WAIT", "1", "30000"}, patient, lane::writes).value.integer == 1);
  pair.master().kill();
  const auto limit = std::chrono::steady_clock::now() + 60s;
  while (ask(*server, {"SET", "k2", "v2"}, patient, lane::writes).failure != remote_failure::none)
    REQUIRE(std::chrono::steady_clock::now() < limit);
  CHECK(port_of(*server) == pair.replica().port());
  CHECK(ask(*server, {"GET", "k"}).value.text == "v");

  certificate_authority other(directory.path(), "other");
  endpoint.ca_file = other.file();
  const auto untrusting = ask(**connect_redis(endpoint), {"GET", "k"});
  CHECK(untrusting.failure == remote_failure::unreachable);
  CHECK(untrusting.problem.find("certificate is not trusted") != std::string::npos);
}

TEST_CASE("sentinel: with TLS the master's certificate has to have the place that sentinels tell") {
  const temporary_directory directory;
  certificate_authority ours(directory.path(), "ours");
  redis_setup setup;
  setup.tls = true;
  setup.ca = ours.file();
  const auto of_sentinels = ours.issue("sentinel", "IP:127.0.0.1");
  setup.certificate = of_sentinels.certificate;
  setup.key = of_sentinels.key;
  auto servers = setup;
  const auto of_servers = ours.issue("server", "IP:127.0.0.2");
  servers.certificate = of_servers.certificate;
  servers.key = of_servers.key;
  const watched_pair pair({.sentinels = setup, .servers = servers});
  auto endpoint = *parse_remote_url(pair.url());
  endpoint.ca_file = ours.file();
  CHECK(ask(**connect_redis(endpoint), {"GET", "k"}).failure == remote_failure::untrusted);
  endpoint.verify = false;
  CHECK(is_ok(ask(**connect_redis(endpoint), {"GET", "k"})));
}

TEST_CASE("sentinel: those that are silent cost time once, however many they are") {
  const watched_pair pair;
  std::vector<std::unique_ptr<fault_proxy>> silent;
  std::string hosts;
  for (int i = 0; i < 3; ++i) {
    silent.push_back(std::make_unique<fault_proxy>(pair.sentinel(0).port()));
    silent.back()->set(proxy_fault::black_hole);
    hosts += "127.0.0.1:" + std::to_string(silent.back()->port()) + ",";
  }
  hosts += "127.0.0.1:" + std::to_string(pair.sentinel(1).port());
  auto endpoint = *parse_remote_url("redis+sentinel://" + hosts + "/fleet");
  endpoint.connect_deadline = 200ms; // which ends before the first of them is given up
  const auto server = *connect_redis(endpoint);
  const auto limit = std::chrono::steady_clock::now() + 60s;
  while (ask(*server, {"PING"}).failure != remote_failure::none)
    REQUIRE(std::chrono::steady_clock::now() < limit);
  std::vector<std::size_t> asked;
  for (const auto& one : silent)
    asked.push_back(one->connections());
  while (ask(*server, {"SET", "k", "v"}, patient, lane::writes).failure != remote_failure::none)
    REQUIRE(std::chrono::steady_clock::now() < limit);
  for (std::size_t i = 0; i < silent.size(); ++i)
    CHECK(silent[i]->connections() == asked[i]);
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
