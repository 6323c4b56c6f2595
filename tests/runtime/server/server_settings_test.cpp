// The settings of the server: every member, and the line that each mistake gets.
#include "runtime/server/access/users_file.hpp"
#include "runtime/server/settings/server_settings.hpp"
#include "tests/support/files.hpp"
#include "tests/support/temporary_directory.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <string>

namespace server_settings_test {

using namespace hearth;
using namespace hearth::server;
using namespace std::chrono_literals;

namespace {

constexpr auto kib = std::uint64_t{1} << 10, mib = std::uint64_t{1} << 20,
               gib = std::uint64_t{1} << 30;

const std::string listener = "[[listen]]\naddress = \"127.0.0.1:6379\"\n";

expected<server_settings> parsed(const std::string& text) {
  return parse_server_settings(text, "/etc/hearth/server.toml");
}

// The settings of these lines in front of a listener.
server_settings with(const std::string& lines) {
  auto settings = parsed(lines + listener);
  if (!settings) FAIL(settings.error().text());
  return std::move(*settings);
}

std::string fault(const std::string& text, errc code = errc::malformed) {
  const auto settings = parsed(text);
  if (settings) return "no error";
  CHECK(settings.error().code() == code);
  return settings.error().text();
}

// What is wrong with these lines in front of a listener.
std::string fault_in(const std::string& lines) { return fault(lines + listener); }

std::string contradiction(const std::string& text) { return fault(text, errc::invalid_argument); }

listener_settings listening(const std::string& lines, const std::string& top = {}) {
  auto settings = parsed(top + "[[listen]]\n" + lines);
  if (!settings) FAIL(settings.error().text());
  return settings->listeners.front();
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a file with one address has the documented defaults") {
  const auto settings = with("");
  REQUIRE(settings.listeners.size() == 1);
  const auto& one = settings.listeners[0];
  CHECK(one.speaks == protocol::resp);
  CHECK(one.address == "127.0.0.1:6379");
  CHECK_FALSE(one.is_unix());
  CHECK(one.certificate_file.empty());
  CHECK(one.anonymous == user_role::writer);
  CHECK_FALSE(one.hold_misses);
  CHECK(one.refused == refused_writes::error);
  CHECK_FALSE(one.validate_results);
  CHECK(settings.users_file.empty());
  CHECK(settings.cache.store.empty());
  CHECK(settings.cache.memory_budget_bytes == 256 * mib);
  CHECK(settings.cache.remote.url.empty());
  CHECK_FALSE(settings.compress);
  CHECK(settings.threads == 0);
  CHECK(settings.log == log_level::info);
  CHECK(settings.drain_deadline == 10s);
  CHECK(settings.limits.value_bytes == 512 * mib);
  CHECK(settings.limits.idle_time == 0s);
  CHECK(settings.limits.request_time == 60s);
  CHECK(settings.hold.wait == 8s);
}

TEST_CASE("the members at the top are read") {
  const auto settings = with("store = \"/var/cache/hearth\"\ndisk_budget = \"20GiB\"\n"
                             "memory_budget = \"1.5GiB\"\nthreads = 3\ncompress = true\n"
                             "users = \"/etc/users.toml\"\nlog = \"warning\"\n"
                             "drain_deadline = \"500ms\"\n");
  CHECK(settings.cache.store == "/var/cache/hearth");
  CHECK(settings.cache.disk_budget_bytes == 20 * gib);
  CHECK(settings.cache.memory_budget_bytes == 3 * gib / 2);
  CHECK(settings.threads == 3);
  CHECK(settings.compress);
  CHECK(settings.users_file == "/etc/users.toml");
  CHECK(settings.log == log_level::warning);
  CHECK(settings.drain_deadline == 500ms);
}

TEST_CASE("the levels of the log are read by name") {
  CHECK(with("log = \"debug\"\n").log == log_level::debug);
  CHECK(with("log = \"info\"\n").log == log_level::info);
  CHECK(with("log = \"error\"\n").log == log_level::error);
  CHECK(has(fault_in("log = \"verbose\"\n"), "debug, info, warning, error"));
}

TEST_CASE("the limits and the times of held misses are read") {
  const auto settings =
      with("[limits]\nvalue_bytes = \"1MiB\"\nheader_bytes = \"8KiB\"\nconnections = 7\n"
           "output_bytes = \"2MiB\"\nreceiving_bytes = \"3MiB\"\npipelined_writes = 5\n"
           "idle_time = \"5min\"\nrequest_time = \"never\"\n"
           "[hold]\nwait = \"3s\"\nholder = \"2min\"\nmax_held = 11\n");
  const auto& limits = settings.limits;
  CHECK(limits.value_bytes == mib);
  CHECK(limits.header_bytes == 8 * kib);
  CHECK(limits.connections == 7);
  CHECK(limits.output_bytes == 2 * mib);
  CHECK(limits.receiving_bytes == 3 * mib);
  CHECK(limits.pipelined_writes == 5);
  CHECK(limits.idle_time == 5min);
  CHECK(limits.request_time == 0ms);
  CHECK(settings.hold.wait == 3s);
  CHECK(settings.hold.holder == 2min);
  CHECK(settings.hold.max_held == 11);
}

TEST_CASE("the members of a listener are read") {
  const auto one = listening("protocol = \"http\"\naddress = \"[::]:8080\"\n"
                             "certificate_file = \"/c.pem\"\nkey_file = \"/k.pem\"\n"
                             "client_ca_file = \"/ca.pem\"\nanonymous = \"reader\"\n"
                             "anonymous_namespace = \"guests\"\nhold_misses = true\n"
                             "refused_writes = \"ignore\"\nvalidate_results = true\n"
                             "certificate_users = true\n",
                             "users = \"u\"\n");
  CHECK(one.certificate_users);
  CHECK(one.speaks == protocol::http);
  CHECK(one.address == "[::]:8080");
  CHECK(one.certificate_file == "/c.pem");
  CHECK(one.key_file == "/k.pem");
  CHECK(one.client_ca_file == "/ca.pem");
  CHECK(one.anonymous == user_role::reader);
  CHECK(one.anonymous_namespace == "guests");
  CHECK(one.hold_misses);
  CHECK(one.refused == refused_writes::ignore);
  CHECK(one.validate_results);
}

TEST_CASE("the upstream has the names of the remote tier") {
  const auto remote =
      with("[upstream]\nremote = \"rediss://h:6380\"\nremote_password_file = \"/p\"\n"
           "remote_ca_file = \"/ca\"\nremote_certificate_file = \"/c\"\nremote_key_file = \"/k\"\n"
           "remote_verify = false\nremote_signing_keys = \"/s\"\nremote_mode = \"read-only\"\n"
           "remote_caches = \"autotune,kernels\"\nremote_prefix = \"team\"\nremote_ttl = \"7d\"\n"
           "remote_deadline = \"200ms\"\nremote_lease = \"40s\"\nremote_drain = \"6s\"\n"
           "remote_value_limit = \"32MiB\"\nremote_queue = \"16MiB\"\n"
           "remote_queue_entries = 100\n")
          .cache.remote;
  CHECK(remote.url == "rediss://h:6380");
  CHECK(remote.password_file == "/p");
  CHECK(remote.ca_file == "/ca");
  CHECK(remote.certificate_file == "/c");
  CHECK(remote.key_file == "/k");
  CHECK_FALSE(remote.verify);
  CHECK(remote.signing_key_file == "/s");
  CHECK(remote.mode == remote_mode::read_only);
  CHECK(remote.caches == std::vector<std::string>{"autotune", "kernels"});
  CHECK(remote.prefix == "team");
  CHECK(remote.ttl == 24h * 7);
  CHECK(remote.deadline == 200ms);
  CHECK(remote.lease_time == 40s);
  CHECK(remote.drain_deadline == 6s);
  CHECK(remote.max_value_bytes == 32 * mib);
  CHECK(remote.queue_bytes == 16 * mib);
  CHECK(remote.queue_entries == 100);
}

TEST_CASE("the upstream's other texts are read") {
  const std::string upstream = "[upstream]\nremote = \"redis://h\"\n";
  CHECK(with(upstream + "remote_mode = \"write-only\"\n").cache.remote.mode ==
        remote_mode::write_only);
  CHECK(with(upstream + "remote_ttl = \"never\"\n").cache.remote.ttl == 0ms);
  CHECK_FALSE(with(upstream + "remote_verify = \"no\"\n").cache.remote.verify);
  CHECK(with(upstream + "remote_verify = \"yes\"\n").cache.remote.verify);
  CHECK(has(fault_in(upstream + "remote_verify = \"maybe\"\n"), ":3: upstream.remote_verify: "));
  CHECK(has(fault_in(upstream + "remote_prefix = \"a b\"\n"), "without spaces"));
  CHECK(has(fault_in(upstream + "remote_caches = \"a,,b\"\n"), ":3: upstream.remote_caches: "));
  CHECK(has(fault_in(upstream + "remote_queue_entries = 0\n"), "from 1 to 10000000"));
  CHECK(has(fault_in(upstream + "remote_ttl = 7\n"), "\"never\" for no limit"));
}

TEST_CASE("relative paths are those of the file's folder") {
  const auto settings = with("store = \"store\"\nusers = \"users.toml\"\n"
                             "[upstream]\nremote = \"redis://h\"\nremote_password_file = \"p\"\n"
                             "remote_ca_file = \"ca\"\nremote_certificate_file = \"c\"\n"
                             "remote_key_file = \"k\"\nremote_signing_keys = \"s\"\n"
                             "[[listen]]\naddress = \"unix:run/hearth.sock\"\n"
                             "[[listen]]\naddress = \"localhost:1\"\ncertificate_file = \"c\"\n"
                             "key_file = \"k\"\nclient_ca_file = \"ca\"\n");
  CHECK(settings.cache.store == "/etc/hearth/store");
  CHECK(settings.users_file == "/etc/hearth/users.toml");
  CHECK(settings.cache.remote.password_file == "/etc/hearth/p");
  CHECK(settings.cache.remote.ca_file == "/etc/hearth/ca");
  CHECK(settings.cache.remote.certificate_file == "/etc/hearth/c");
  CHECK(settings.cache.remote.key_file == "/etc/hearth/k");
  CHECK(settings.cache.remote.signing_key_file == "/etc/hearth/s");
  CHECK(settings.listeners[0].address == "unix:/etc/hearth/run/hearth.sock");
  CHECK(settings.listeners[1].certificate_file == "/etc/hearth/c");
  CHECK(settings.listeners[1].key_file == "/etc/hearth/k");
  CHECK(settings.listeners[1].client_ca_file == "/etc/hearth/ca");
}

TEST_CASE("an unknown member is told with its line and the nearest known name") {
  CHECK(fault_in("\nstor = \"x\"\n") ==
        "/etc/hearth/server.toml:2: stor: is unknown; is 'store' meant?");
  CHECK(fault_in("[limit]\n") ==
        "/etc/hearth/server.toml:1: limit: is unknown; is 'limits' meant?");
  CHECK(fault_in("[limits]\nvalue_byte = \"1MiB\"\n") ==
        "/etc/hearth/server.toml:2: limits.value_byte: is unknown; is 'value_bytes' meant?");
  CHECK(has(fault_in("[hold]\nwiat = \"1s\"\n"), ":2: hold.wiat: is unknown; is 'wait' meant?"));
  CHECK(has(fault_in("[upstream]\nremote_tll = \"1s\"\n"), "is 'remote_ttl' meant?"));
  CHECK(
      has(fault(listener + "adress = \"x\"\n"), ":3: listen[0].adress: is unknown; is 'address'"));
  CHECK(has(fault(listener + listener + "hold = true\n"), ":5: listen[1].hold: is unknown"));
}

TEST_CASE("a name that is near none is told with those that are known") {
  CHECK(has(fault_in("[hold]\nzzzzzzzzzz = 1\n"), "is unknown; known are wait, holder, max_held"));
  const auto text = fault_in("[hold]\n" + std::string(100'000, 'w') + " = 1\n");
  CHECK(has(text, "known are wait, holder, max_held"));
}

TEST_CASE("the first mistake in the file is told, in one line") {
  CHECK(has(fault_in("[limits]\nzz_second = 1\n[hold]\nb = 1\na = 1\n"), ":2: limits.zz_second"));
  CHECK(has(fault_in("[hold]\nzz = 1\naa = 1\n"), ":2: hold.zz"));
  CHECK_FALSE(has(fault_in("\"a\\nb\" = 1\n"), "\n"));
}

TEST_CASE("a text that is no TOML is told with its line") {
  CHECK(fault("store = \"x\"\nthreads =\n").starts_with("/etc/hearth/server.toml:2: "));
  CHECK(fault("store = \"x\"\nstore = \"y\"\n").starts_with("/etc/hearth/server.toml:2: "));
  CHECK(fault("store = \"\xff\"\n").starts_with("/etc/hearth/server.toml:1: "));
}

TEST_CASE("sizes and times need a unit") {
  for (const auto* size : {"64", "\"64\"", "\"1.5\"", "true"})
    CHECK(has(fault_in(std::string("memory_budget = ") + size + "\n"),
              ":1: memory_budget: has to be a size with a unit, in quotes; write \"64MiB\""));
  CHECK(has(fault_in("memory_budget = \"64 parsec\"\n"), "is no size"));
  CHECK(has(fault_in("memory_budget = \"99999999999TiB\"\n"), "too large"));
  CHECK(has(fault_in("memory_budget = \"0MiB\"\n"), "out of range"));
  CHECK(has(fault_in("drain_deadline = 8\n"), "has to be a time with a unit, in quotes"));
  for (const auto* time : {"8", "0s", "-1s", "1001d", "8 s", "soon", "never"})
    CHECK(has(fault_in(std::string("drain_deadline = \"") + time + "\"\n"),
              std::string(":1: drain_deadline: '") + time + "' is no time"));
}

TEST_CASE("values of another type or out of range are refused") {
  CHECK(has(fault_in("store = 3\n"), "text in quotes"));
  CHECK(has(fault_in("store = \"\"\n"), "is empty"));
  CHECK(has(fault_in("store = \"a\\u0000b\"\n"), "zero byte"));
  CHECK(has(fault_in("compress = \"yes\"\n"), "true or false"));
  for (const auto* threads : {"0", "1025", "-1", "1.5", "\"3\""})
    CHECK(has(fault_in(std::string("threads = ") + threads + "\n"), "whole number from 1 to 1024"));
  for (const auto* line : {"value_bytes = \"2TiB\"", "header_bytes = \"512B\"",
                           "header_bytes = \"17MiB\"", "output_bytes = \"1KiB\""})
    CHECK(has(fault_in(std::string("[limits]\n") + line + "\n"), "is out of range"));
  for (const auto* line : {"connections = 0", "connections = 1000001", "pipelined_writes = 0"})
    CHECK(has(fault_in(std::string("[limits]\n") + line + "\n"), "has to be a whole number"));
  CHECK(has(fault_in("[hold]\nmax_held = 0\n"), "has to be a whole number"));
}

TEST_CASE("a table that is none is told how to be written") {
  CHECK(has(fault_in("limits = 3\n"), ":1: limits: has to be a table; write [limits]"));
  CHECK(has(fault("[listen]\naddress = \"x\"\n"), ":1: listen: has to be a list of tables"));
  CHECK(has(fault("listen = [3]\n"), "write [[listen]]"));
}

TEST_CASE("the members of a listener are checked") {
  const auto told = [](const std::string& line) {
    return fault("[[listen]]\naddress = \"127.0.0.1:1\"\n" + line + "\n");
  };
  CHECK(has(told("protocol = \"redis\""), ":3: listen[0].protocol: 'redis' is unknown; write one "
                                          "of resp, http, crsh"));
  CHECK(has(told("anonymous = \"root\""), "reader, writer, admin, none"));
  CHECK(has(told("anonymous_namespace = \"a b\""), "1 to 58 bytes"));
  CHECK(has(told("refused_writes = \"drop\""), "error, ignore"));
  CHECK(has(told("hold_misses = 1"), "true or false"));
  CHECK(has(fault("[[listen]]\naddress = \"localhost\"\n"), ":2: listen[0].address: 'localhost' is "
                                                            "no address: it has no port; write "));
  CHECK(has(fault("[[listen]]\naddress = \"unix:\"\n"), "needs a path"));
}

TEST_CASE("there may be 64 listeners") {
  std::string text;
  for (int i = 1; i <= 64; ++i)
    text += "[[listen]]\naddress = \"127.0.0.1:" + std::to_string(i) + "\"\n";
  CHECK(parsed(text).value().listeners.size() == 64);
  CHECK(has(fault(text + listener), "64 at most"));
}

TEST_CASE("clients without credentials may write where there is no users file, or as is said") {
  const std::string local = "address = \"127.0.0.1:1\"\n", users = "users = \"u\"\n";
  CHECK(listening(local).anonymous == user_role::writer);
  CHECK_FALSE(listening(local, users).anonymous);
  CHECK(listening(local + "anonymous = \"reader\"\n", users).anonymous == user_role::reader);
  CHECK(listening(local + "anonymous = \"admin\"\n").anonymous == user_role::admin);
  CHECK_FALSE(listening(local + "anonymous = \"none\"\n", users).anonymous);
}

TEST_CASE("an address that other hosts reach needs users, or has to let anonymous clients in") {
  for (const auto* address :
       {"0.0.0.0:1", "[::]:1", "192.168.1.1:1", "cache.example:1", "[::ffff:10.0.0.1]:1"}) {
    const auto line = std::string("address = \"") + address + "\"\n";
    CAPTURE(address);
    CHECK(has(contradiction("[[listen]]\n" + line), ":1: listen[0]: other hosts reach this"));
    CHECK(listening(line + "anonymous = \"writer\"\n").anonymous == user_role::writer);
    CHECK_FALSE(listening(line, "users = \"u\"\n").anonymous);
  }
  for (const auto* address : {"127.9.9.9:1", "[::1]:1", "LocalHost:1", "unix:/x"})
    CHECK(listening(std::string("address = \"") + address + "\"\n").anonymous == user_role::writer);
}

TEST_CASE("a file without a listener, and a listener without an address, are refused") {
  CHECK(contradiction("store = \"x\"\n") ==
        "/etc/hearth/server.toml: listen: there is no listener; write [[listen]] and an address");
  CHECK(has(contradiction("\n[[listen]]\nprotocol = \"http\"\n"), ":2: listen[0]: has no address"));
  CHECK(has(contradiction("listen = []\n"), "there is no listener"));
}

TEST_CASE("two listeners at one address are refused, two at free ports are not") {
  CHECK(has(contradiction(listener + listener), ":3: listen[1]: has the address 127.0.0.1:6379 of "
                                                "line 1 too"));
  const std::string socket = "[[listen]]\naddress = \"unix:/x\"\n";
  CHECK(has(contradiction(socket + socket), "unix:/x of line 1"));
  const std::string free = "[[listen]]\naddress = \"127.0.0.1:0\"\n";
  CHECK(parsed(free + free).has_value());
}

TEST_CASE("what TLS needs is told") {
  const auto told = [](const std::string& lines) { return contradiction(listener + lines); };
  CHECK(has(told("certificate_file = \"c\"\n"), "without its key_file"));
  CHECK(has(told("key_file = \"k\"\n"), "without its certificate_file"));
  CHECK(has(told("client_ca_file = \"k\"\n"), "client_ca_file needs TLS"));
  CHECK(has(told("certificate_users = true\n"), "certificate_users needs client_ca_file"));
  CHECK(has(told("certificate_file = \"c\"\nkey_file = \"k\"\nclient_ca_file = \"a\"\n"
                 "certificate_users = true\n"),
            "certificate_users needs a file of users"));
  CHECK(has(contradiction("[[listen]]\naddress = \"unix:/x\"\ncertificate_file = \"c\"\n"
                          "key_file = \"k\"\n"),
            "TLS is not for a Unix socket"));
  CHECK(
      has(contradiction("[upstream]\nremote = \"redis://h\"\nremote_key_file = \"k\"\n" + listener),
          ":1: upstream: remote_certificate_file and remote_key_file go together"));
}

TEST_CASE("what a listener's protocol and clients contradict is told") {
  const std::string crsh = "[[listen]]\nprotocol = \"crsh\"\n";
  CHECK(has(contradiction(crsh + "address = \"127.0.0.1:1\"\n"), "on a Unix socket alone"));
  CHECK(parsed(crsh + "address = \"unix:/x\"\n").has_value());
  CHECK(has(contradiction("users = \"u\"\n" + crsh + "address = \"unix:/x\"\n"),
            "clients of crsh have no credentials"));
  CHECK(parsed("users = \"u\"\n" + crsh + "address = \"unix:/x\"\nanonymous = \"writer\"\n")
            .has_value());
  CHECK(has(contradiction(listener + "anonymous = \"none\"\n"), "lets nobody in"));
  CHECK(has(contradiction("users = \"u\"\n" + listener + "anonymous_namespace = \"x\"\n"),
            "anonymous_namespace needs anonymous"));
  CHECK(has(contradiction(listener + "validate_results = true\n"), "is for protocol = \"http\""));
}

TEST_CASE("a Unix socket's path is at most what the system allows") {
  CHECK(listening("address = \"unix:/" + std::string(106, 'a') + "\"\n").is_unix());
  CHECK(has(contradiction("[[listen]]\naddress = \"unix:/" + std::string(107, 'a') + "\"\n"),
            "107 bytes"));
}

TEST_CASE("an upstream without a server, or with a URL that is none, is refused") {
  CHECK(has(contradiction("\n[upstream]\nremote_mode = \"read-only\"\n" + listener),
            ":2: upstream: has no server"));
  const auto text = fault_in("[upstream]\nremote = \"http://u:secret@h\"\n");
  CHECK(has(text, ":2: upstream.remote: "));
  CHECK_FALSE(has(text, "secret"));
}

TEST_CASE("a value that may be stored has to fit into what may be received") {
  CHECK(has(contradiction("[limits]\nreceiving_bytes = \"1MiB\"\n" + listener),
            ":1: limits: a value of value_bytes could not be received"));
}

TEST_CASE("settings are read from their file") {
  const test::temporary_directory directory;
  test::write_text(directory / "server.toml", "store = \"s\"\n" + listener);
  const auto read = read_server_settings(directory / "server.toml");
  REQUIRE(read);
  CHECK(read->cache.store == directory / "s");
  const auto none = read_server_settings(directory / "none.toml");
  CHECK(none.error().code() == errc::not_found);
  CHECK(has(none.error().text(), "none.toml"));
}

TEST_CASE("the examples in the documentation are right") {
  const auto page = test::file_text(HEARTH_SOURCE_DIR "/docs/serve.md");
  const auto example_after = [&](std::string_view heading) {
    constexpr std::string_view opening = "```toml\n";
    const auto begin = page.find(opening, page.find(heading)) + opening.size();
    return page.substr(begin, page.find("```", begin) - begin);
  };
  const auto settings = parsed(example_after("## Settings"));
  REQUIRE(settings);
  CHECK(settings->listeners.size() == 2);
  CHECK(settings->users_file == "/etc/hearth/users.toml");
  const auto users = parse_users(example_after("## Users, roles, namespaces"), "users.toml");
  REQUIRE(users);
  CHECK(users->size() == 4);
}

TEST_CASE("protocols have the names that the file uses") {
  CHECK(to_string(protocol::resp) == "resp");
  CHECK(to_string(protocol::http) == "http");
  CHECK(to_string(protocol::crsh) == "crsh");
}

TEST_CASE("an address has a host and a port") {
  const auto address = [](std::string_view text) {
    const auto parts = parse_address(text);
    return parts ? parts->host + " " + std::to_string(parts->port) : parts.error().text();
  };
  CHECK(address("127.0.0.1:6379") == "127.0.0.1 6379");
  CHECK(address("cache-1.example_x:0") == "cache-1.example_x 0");
  CHECK(address("[::1]:65535") == "::1 65535");
  for (const auto* bad : {"", "localhost", ":1", "a:", "a:65536", "a:-1", "a:+1", "a:1x", "::1:80",
                          "[::1]", "[::1]80", "[]:1", "[127.0.0.1]:1", "[::g]:1", "a b:1", "a/b:1",
                          "127.1:1", "1.2.3.4.5:1", "256.1.1.1:1"}) {
    CAPTURE(bad);
    CHECK(parse_address(bad).error().code() == errc::malformed);
    CHECK(has(address(bad), std::string("'") + bad + "' is no address"));
  }
  CHECK_FALSE(parse_address(std::string(254, 'a') + ":1"));
  CHECK(has(address("::1:80"), "has to stand in []"));
}

TEST_CASE("loopback is what only this host reaches") {
  for (const auto* host :
       {"127.0.0.1", "127.255.0.9", "::1", "0:0::1", "::ffff:127.0.0.1", "localhost", "LOCALHOST"})
    CHECK(is_loopback(host));
  for (const auto* host : {"0.0.0.0", "::", "128.0.0.1", "12.7.0.0", "::2", "::ffff:10.0.0.1",
                           "localhost.example", "localhos", "", "127.0.0.1.example", "127"})
    CHECK_FALSE(is_loopback(host));
  CHECK_FALSE(is_loopback(std::string_view("127.0.0.1\0x", 11)));
}

} // namespace server_settings_test
