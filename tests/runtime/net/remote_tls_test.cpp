// TLS to a real redis-server: which certificates are trusted, and which are not.
#include "tests/support/asker.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/fault_proxy.hpp"
#include "tests/support/local_redis.hpp"

#include <fstream>

namespace remote_tls_test {

using namespace hearth;
using namespace hearth::net;
using namespace hearth::test;

namespace {

struct authorities {
  temporary_directory directory;
  certificate_authority ours{directory.path(), "ours"};
  certificate_authority other{directory.path(), "other"};
};

redis_setup setup_of(const certificate_files& server, const std::filesystem::path& ca) {
  redis_setup setup;
  setup.tls = true;
  setup.certificate = server.certificate;
  setup.key = server.key;
  setup.ca = ca;
  return setup;
}

remote_endpoint endpoint_of(const std::string& host, std::uint16_t port,
                            const std::filesystem::path& ca) {
  auto endpoint = *parse_remote_url("rediss://" + host + ":" + std::to_string(port));
  endpoint.ca_file = ca;
  return endpoint;
}

remote_reply ping(const remote_endpoint& endpoint) {
  const auto server = connect_redis(endpoint);
  REQUIRE(server);
  return ask(**server, {"PING"});
}

} // namespace

TEST_CASE("remote tls: a server of a trusted authority, by name and by address") {
  authorities all;
  const local_redis redis(
      setup_of(all.ours.issue("server", "DNS:localhost,IP:127.0.0.1"), all.ours.file()));
  CHECK(is_ok(ping(endpoint_of("localhost", redis.tls_port(), all.ours.file()))));
  CHECK(is_ok(ping(endpoint_of("127.0.0.1", redis.tls_port(), all.ours.file()))));
  // Sends and receives large values.
  const auto server = *connect_redis(endpoint_of("localhost", redis.tls_port(), all.ours.file()));
  const std::string large(5u << 20, 'x');
  CHECK(is_ok(ask(*server, {"SET", "k", large}, patient, lane::writes)));
  CHECK(ask(*server, {"GET", "k"}).value.text == large);
}

TEST_CASE(
    "remote tls: a certificate of another authority, another host or another time is refused") {
  authorities all;
  struct trial {
    certificate_files files;
    const char* says;
  };
  const trial trials[] = {
      {all.other.issue("stranger", "DNS:localhost"), "certificate"},
      {all.ours.issue("elsewhere", "DNS:elsewhere.example"), "mismatch"},
      {all.ours.issue("expired", "DNS:localhost", -7200, -60), "expired"},
      {all.ours.issue("early", "DNS:localhost", 3600, 7200), "not yet valid"},
  };
  for (const auto& [files, says] : trials) {
    const local_redis redis(setup_of(files, all.ours.file()));
    auto endpoint = endpoint_of("localhost", redis.tls_port(), all.ours.file());
    const auto refused = ping(endpoint);
    CHECK(refused.failure == remote_failure::untrusted);
    CAPTURE(refused.problem);
    CHECK(refused.problem.find(says) != std::string::npos);
    CHECK(refused.problem.find('\n') == std::string::npos);
    // The same without verification, which has to be requested.
    endpoint.verify = false;
    CHECK(is_ok(ping(endpoint)));
  }
}

TEST_CASE("remote tls: an address is verified too") {
  authorities all;
  const local_redis redis(setup_of(all.ours.issue("server", "DNS:localhost"), all.ours.file()));
  CHECK(ping(endpoint_of("127.0.0.1", redis.tls_port(), all.ours.file())).failure ==
        remote_failure::untrusted);
}

TEST_CASE("remote tls: without a CA file the system's authorities decide") {
  authorities all;
  const local_redis redis(setup_of(all.ours.issue("server", "DNS:localhost"), all.ours.file()));
  CHECK(ping(endpoint_of("localhost", redis.tls_port(), "")).failure == remote_failure::untrusted);
}

TEST_CASE("remote tls: a server that asks for a certificate gets the client's") {
  authorities all;
  auto setup = setup_of(all.ours.issue("server", "DNS:localhost"), all.ours.file());
  setup.ask_clients = true;
  const local_redis redis(setup);
  auto endpoint = endpoint_of("localhost", redis.tls_port(), all.ours.file());
  CHECK(ping(endpoint).failure == remote_failure::untrusted);
  const auto mine = all.ours.issue("client", "DNS:client");
  endpoint.certificate_file = mine.certificate;
  endpoint.key_file = mine.key;
  CHECK(is_ok(ping(endpoint)));
  const auto foreign = all.other.issue("client", "DNS:client");
  endpoint.certificate_file = foreign.certificate;
  endpoint.key_file = foreign.key;
  CHECK(ping(endpoint).failure == remote_failure::untrusted);
}

TEST_CASE("remote tls: only TLS 1.2 and later are spoken") {
  authorities all;
  for (const auto& [versions, works] :
       {std::pair{"TLSv1.2", true}, {"TLSv1.3", true}, {"TLSv1.1", false}}) {
    CAPTURE(versions);
    auto setup = setup_of(all.ours.issue("server", "DNS:localhost"), all.ours.file());
    // The system's own policy does not offer the oldest version unless its ciphers are enabled.
    setup.arguments = {"--tls-protocols", versions, "--tls-ciphers", "DEFAULT:@SECLEVEL=0"};
    const local_redis redis(setup);
    const auto reply = ping(endpoint_of("localhost", redis.tls_port(), all.ours.file()));
    CHECK(name_of(reply) == (works ? "none" : "untrusted"));
  }
}

TEST_CASE("remote tls: a server that speaks no TLS, and one that ends during the handshake") {
  const local_redis redis({.tcp = true});
  CHECK(ask(**connect_redis(endpoint_of("localhost", redis.port(), "")), {"PING"}, 50ms).failure !=
        remote_failure::none);
  authorities all;
  const local_redis secure(setup_of(all.ours.issue("server", "DNS:localhost"), all.ours.file()));
  fault_proxy proxy(secure.tls_port());
  const auto endpoint = endpoint_of("localhost", proxy.port(), all.ours.file());
  CHECK(is_ok(ping(endpoint)));
  proxy.set(proxy_fault::cut);
  CHECK(ping(endpoint).failure == remote_failure::cut);
  proxy.set(proxy_fault::black_hole);
  CHECK(ask(**connect_redis(endpoint), {"PING"}, 20ms).failure == remote_failure::timeout);
  proxy.heal();
  CHECK(is_ok(ping(endpoint)));
}

TEST_CASE("remote tls: files that cannot be used are named, before anything is sent") {
  authorities all;
  const auto mine = all.ours.issue("client", "DNS:client");
  const auto other = all.ours.issue("second", "DNS:client");
  std::ofstream(all.directory / "nonsense.pem") << "no PEM\n";
  const auto why = [&](auto change) {
    auto endpoint = *parse_remote_url("rediss://localhost");
    change(endpoint);
    const auto server = connect_redis(endpoint);
    REQUIRE(!server);
    CHECK(server.error().text().find('\n') == std::string::npos);
    return server.error().text();
  };
  const auto names = [](const std::string& text, const char* file) {
    CAPTURE(text);
    CHECK(text.find(file) != std::string::npos);
  };
  names(why([&](auto& e) { e.ca_file = all.directory / "none.pem"; }), "none.pem");
  names(why([&](auto& e) { e.ca_file = all.directory / "nonsense.pem"; }), "nonsense.pem");
  names(why([&](auto& e) { e.certificate_file = mine.certificate; }), "give both");
  names(why([&](auto& e) {
          e.certificate_file = mine.certificate;
          e.key_file = all.directory / "nonsense.pem";
        }),
        "nonsense.pem");
  const auto of_other = why([&](auto& e) {
    e.certificate_file = mine.certificate;
    e.key_file = other.key;
  });
  names(of_other, "second.key.pem");
  names(of_other, ("it is not the key of the certificate in " + mine.certificate.string()).c_str());
}

} // namespace remote_tls_test
