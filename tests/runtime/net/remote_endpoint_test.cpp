// URLs of the remote tier, and the secrecy of the passwords in them.
#include "runtime/net/remote_endpoint.hpp"

#include "tests/support/files.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

namespace remote_endpoint_test {

using namespace hearth;
using namespace hearth::net;

namespace {

remote_endpoint parsed(std::string_view url) {
  const auto endpoint = parse_remote_url(url);
  REQUIRE_MESSAGE(endpoint, std::string(url));
  return *endpoint;
}

std::string why_not(std::string_view url) {
  const auto endpoint = parse_remote_url(url);
  CAPTURE(std::string(url));
  REQUIRE(!endpoint);
  CHECK(endpoint.error().code() == errc::invalid_argument);
  CHECK(endpoint.error().text().find('\n') == std::string::npos);
  return endpoint.error().text();
}

bool says(std::string_view text, std::string_view what) {
  return text.find(what) != std::string_view::npos;
}

} // namespace

TEST_CASE("remote url: host, port and database") {
  auto at = parsed("redis://cache.example");
  CHECK(at.transport == remote_transport::tcp);
  CHECK(at.host == "cache.example");
  CHECK(at.port == 6379);
  CHECK(at.database == 0);
  CHECK(at.verify);
  at = parsed("rediss://10.0.0.1:6380/3");
  CHECK(at.transport == remote_transport::tls);
  CHECK(at.host == "10.0.0.1");
  CHECK(at.port == 6380);
  CHECK(at.database == 3);
  CHECK(parsed("redis://a/").database == 0);
  CHECK(parsed("redis://a?db=7").database == 7);
  CHECK(parsed("redis://[::1]").host == "::1");
  CHECK(parsed("redis://[fe80::1:2]:1/0").port == 1);
}

TEST_CASE("remote url: user and password, where a single word is the password") {
  auto at = parsed("redis://alice:s3cret@h");
  CHECK(at.user == "alice");
  CHECK(at.password == "s3cret");
  at = parsed("redis://s3cret@h");
  CHECK(at.user.empty());
  CHECK(at.password == "s3cret");
  at = parsed("redis://:p%40ss%2fw%3Ard%25@h:1");
  CHECK(at.user.empty());
  CHECK(at.password == "p@ss/w:rd%");
  CHECK(at.host == "h");
  CHECK(parsed("redis://u:a@b@h").password == "a@b");
  CHECK(parsed("redis://u:a/b:c@h").password == "a/b:c");
  CHECK(parsed("redis://u:@h").password.empty());
}

TEST_CASE("remote url: a Unix socket") {
  auto at = parsed("redis+unix:///run/redis/redis.sock");
  CHECK(at.transport == remote_transport::unix_socket);
  CHECK(at.socket_path == "/run/redis/redis.sock");
  at = parsed("redis+unix://u:p@/run/a%20b.sock?db=2");
  CHECK(at.user == "u");
  CHECK(at.password == "p");
  CHECK(at.socket_path == "/run/a b.sock");
  CHECK(at.database == 2);
  CHECK(parsed("unix:///s").socket_path == "/s");
}

TEST_CASE("remote url: to a hearth serve") {
  auto at = parsed("hearth://ci:s3cret@cache.example:7000/3");
  CHECK(at.wants_hearth);
  CHECK(at.transport == remote_transport::tcp);
  CHECK(at.user == "ci");
  CHECK(describe(at) == "hearth://cache.example:7000/3");
  at = parsed("hearths://cache.example");
  CHECK(at.transport == remote_transport::tls);
  CHECK(at.port == 6379);
  CHECK(describe(at) == "hearths://cache.example:6379");
  at = parsed("hearth+unix:///run/hearth/redis.sock?db=2");
  CHECK(at.wants_hearth);
  CHECK(at.socket_path == "/run/hearth/redis.sock");
  CHECK(describe(at) == "hearth+unix:///run/hearth/redis.sock?db=2");
  CHECK_FALSE(parsed("redis://cache.example").wants_hearth);
  CHECK(says(why_not("hearth+cluster://a"), "hearth://"));
}

TEST_CASE("remote url: a cluster, and what sentinels watch") {
  using address = storage::cluster_address;
  const auto cluster = parsed("redis+cluster://u:p@a:7000,[::1],10.0.0.1:7002/");
  CHECK(cluster.form == remote_form::cluster);
  CHECK(cluster.transport == remote_transport::tcp);
  CHECK((cluster.hosts == std::vector<address>{{"a", 7000}, {"::1", 6379}, {"10.0.0.1", 7002}}));
  CHECK(cluster.user == "u");
  CHECK(cluster.password == "p");
  CHECK(describe(cluster) == "redis+cluster://a:7000,[::1]:6379,10.0.0.1:7002");
  const auto encrypted = parsed("rediss+cluster://a");
  CHECK(encrypted.transport == remote_transport::tls);
  CHECK(describe(encrypted) == "rediss+cluster://a:6379");

  const auto watched = parsed("redis+sentinel://secret@s1,s2:26380/fleet-1/3");
  CHECK(watched.form == remote_form::sentinel);
  CHECK((watched.hosts == std::vector<address>{{"s1", 26379}, {"s2", 26380}}));
  CHECK(watched.master == "fleet-1");
  CHECK(watched.database == 3);
  CHECK(watched.password == "secret");
  CHECK(describe(watched) == "redis+sentinel://s1:26379,s2:26380/fleet-1/3");
  CHECK(describe(parsed("redis+sentinel://s1/m")) == "redis+sentinel://s1:26379/m");
  const auto secured = parsed("rediss+sentinel://s1/m");
  CHECK(secured.transport == remote_transport::tls);
  CHECK(secured.form == remote_form::sentinel);
  CHECK(describe(secured) == "rediss+sentinel://s1:26379/m");

  CHECK(says(why_not("redis+cluster://a/1"), "no database but 0"));
  CHECK(says(why_not("redis+cluster://a?db=1"), "no database but 0"));
  CHECK(says(why_not("redis+cluster://a,,b"), "no host"));
  CHECK(says(why_not("redis+cluster://a,b:0"), "port"));
  CHECK(says(why_not("redis+sentinel://s1"), "/MASTER"));
  CHECK(says(why_not("redis+sentinel://s1/"), "master's name"));
  CHECK(says(why_not("redis+sentinel://s1/a b"), "master's name"));
  CHECK(says(why_not("redis+sentinel:///m"), "no host"));
}

TEST_CASE("remote url: an error names the wrong part") {
  CHECK(says(why_not(""), "begins with none of"));
  CHECK(says(why_not("cache.example:6379"), "begins with none of"));
  CHECK(says(why_not("http://cache.example"), "begins with none of"));
  CHECK(says(why_not("redis://"), "there is no host"));
  CHECK(says(why_not("redis://:6379"), "there is no host"));
  CHECK(says(why_not("redis://a b"), "there is no host"));
  CHECK(says(why_not("redis://a\nb"), "there is no host"));
  CHECK(says(why_not("redis://::1"), "there is no host"));
  CHECK(says(why_not("redis://h:0"), "the port"));
  CHECK(says(why_not("redis://h:65536"), "the port"));
  CHECK(says(why_not("redis://h:"), "the port"));
  CHECK(says(why_not("redis://h:12x"), "the port"));
  CHECK(says(why_not("redis://h/x"), "the database"));
  CHECK(says(why_not("redis://h/65536"), "the database"));
  CHECK(says(why_not("redis://h/1/2"), "the database"));
  CHECK(says(why_not("redis://h?db=-1"), "the database"));
  CHECK(says(why_not("redis://h?password=x"), "?db=N"));
  CHECK(says(why_not("redis://[::1"), "no IPv6"));
  CHECK(says(why_not("redis://[h]"), "no IPv6"));
  CHECK(says(why_not("redis://[::1]6379"), "after ]"));
  CHECK(says(why_not("redis://a%4@h"), "a % in user"));
  CHECK(says(why_not("redis+unix://h/s"), "path has to begin"));
  CHECK(says(why_not("redis+unix:///a%00b"), "path has to begin"));
  CHECK(says(why_not("redis+unix:///" + std::string(107, 'a')), "longer than the system"));
  CHECK(says(why_not("redis://" + std::string(5000, 'a')), "longer than 4096"));
}

TEST_CASE("remote url: no error and no description contains the secret") {
  for (const std::string url :
       {"redis://u:hunter2@h:0", "redis://u:hunter2@", "redis://u:hunter2@h/hunter2",
        "redis://hunter2:6379x", "hunter2@h", "redis://u:hunter2%@h", "redis://u:hunter2@h?hunter2",
        "redis+unix://u:hunter2@x", "redis://hunter2/x", "redis://[hunter2]"})
    CHECK(!says(why_not(url), "hunter2"));
  CHECK(describe(parsed("redis://u:hunter2@h")) == "redis://h:6379");
  CHECK(describe(parsed("rediss://hunter2@[::1]:1/4")) == "rediss://[::1]:1/4");
  CHECK(describe(parsed("redis+unix://hunter2@/s?db=1")) == "redis+unix:///s?db=1");
}

TEST_CASE("remote url: a password file has one line") {
  const test::temporary_directory directory;
  const auto file = directory / "password";
  const auto with = [&](std::string_view text) {
    test::write_text(file, text);
    return read_secret_file(file);
  };
  CHECK(with("hunter2\n").value() == "hunter2");
  CHECK(with("hunter2\r\n").value() == "hunter2");
  CHECK(with(" hunter 2").value() == " hunter 2");
  for (const auto* text : {"", "\n", "hunter2\nhunter3\n"}) {
    const auto read = with(text);
    REQUIRE(!read);
    CHECK(read.error().code() == errc::malformed);
    CHECK(!says(read.error().text(), "hunter"));
  }
  CHECK(read_secret_file(directory / "none").error().code() == errc::not_found);
}

} // namespace remote_endpoint_test
