// ccache's storage helper protocol against a session without a socket.
#include "runtime/server/crsh/crsh_session.hpp"

#include "runtime/api/version.hpp"
#include "tests/runtime/server/stepped_host.hpp"

#include <doctest/doctest.h>

#include <cstring>

namespace crsh_session_test {

using namespace hearth;
using namespace hearth::server;
using namespace hearth::test;
using namespace std::chrono_literals;

namespace {

const std::string ok(1, '\0'), no("\x01");

std::string number(std::uint64_t value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}
std::string with_key(char verb, const std::string& key) {
  return std::string{verb, static_cast<char>(key.size())} + key;
}
std::string get(const std::string& key) { return with_key(0, key); }
std::string remove(const std::string& key) { return with_key(2, key); }
std::string exists(const std::string& key) { return with_key(5, key); }
std::string put(const std::string& key, const std::string& value, bool replaces = true) {
  return with_key(1, key) + (replaces ? '\x01' : '\0') + number(value.size()) + value;
}
std::string found(const std::string& value) { return ok + number(value.size()) + value; }

struct crsh_client {
  crsh_client(server_bench& in, const identity_ptr& anonymous)
      : host(std::make_shared<stepped_host>(anonymous))
      , session(std::make_unique<crsh_session>(*host, in.context)) {
    CHECK(host->take_output() == crsh_greeting);
  }

  // What the session answers to these bytes.
  std::string ask(std::string_view bytes, std::size_t step = 1u << 20) {
    while (!bytes.empty() && !host->is_closed) {
      bytes.remove_prefix(feed(*session, bytes, step));
      if (!settle()) return "no answer";
    }
    return host->take_output();
  }
  bool settle() {
    return host->run_until([this] { return session->is_ready() || host->is_closed; });
  }

  std::shared_ptr<stepped_host> host;
  std::unique_ptr<crsh_session> session;
};

struct fixture : server_bench {
  fixture() {
    settings.hold.wait = 60s;
    settings.limits.value_bytes = 1u << 20;
  }
  crsh_client connect(role may = role::writer, bool holds = false) {
    return {*this, make_identity(may, holds)};
  }
  crsh_client client = connect();
};

} // namespace

TEST_SUITE("crsh session") {

  TEST_CASE_FIXTURE(fixture, "values are put, got and removed, in any pieces") {
    const std::string binary("\0\xff\r\n", 4);
    for (const std::size_t step : {std::size_t{1} << 20, std::size_t{1}}) {
      CHECK(client.ask(get(binary), step) == no);
      CHECK(client.ask(put(binary, "value"), step) == ok);
      CHECK(client.ask(get(binary), step) == found("value"));
      CHECK(client.ask(remove(binary), step) == ok);
      CHECK(client.ask(remove(binary), step) == no);
    }
    CHECK(client.ask(put("", "")) == ok);
    CHECK(client.ask(get("")) == found(""));
    CHECK(client.session->is_idle());
  }

  TEST_CASE_FIXTURE(fixture, "pipelined requests are answered in order") {
    for (const std::size_t step : {std::size_t{1} << 20, std::size_t{1}}) {
      const auto all = put("k", "1") + get("k") + put("k", "22") + get("k") + exists("k") +
                       remove("k") + exists("k");
      CHECK(client.ask(all, step) == ok + found("1") + ok + found("22") + ok + ok + no);
    }
  }

  TEST_CASE_FIXTURE(fixture, "the flag of a put says whether an entry is replaced") {
    CHECK(client.ask(put("k", "1", false)) == ok);
    CHECK(client.ask(put("k", "2", false)) == no);
    CHECK(client.ask(get("k")) == found("1"));
    CHECK(client.ask(put("k", "3", true)) == ok);
    CHECK(client.ask(get("k")) == found("3"));
  }

  TEST_CASE_FIXTURE(fixture, "keys have a mark of the protocol") {
    CHECK(client.ask(put("k", "v")) == ok);
    CHECK(trusted().get("crsh:k").get()->hit());
    CHECK_FALSE(trusted().get("k").get()->hit());
  }

  TEST_CASE_FIXTURE(fixture, "info names the server, and stop does not end it") {
    const auto name = "hearth " + std::string(version());
    CHECK(client.ask("\x04") == crsh_info(name));
    CHECK(client.ask("\x03") == ok);
    CHECK_FALSE(client.host->is_closed);
    CHECK(client.ask(get("k")) == no);
  }

  TEST_CASE_FIXTURE(fixture, "a large value goes through in place") {
    const std::string large(700'000, 'x');
    CHECK(client.ask(put("k", large)) == ok);
    CHECK(client.ask(get("k")) == found(large));
    CHECK(counters.receiving_bytes == 0);
  }

  TEST_CASE_FIXTURE(fixture, "a value that is too large ends the connection") {
    const auto reply = client.ask(with_key(1, "k") + '\x01' + number(UINT64_MAX) + "x");
    CHECK(reply.starts_with("\x02"));
    CHECK(client.host->is_closed);
  }

  TEST_CASE_FIXTURE(fixture, "the values that all connections receive are bounded together") {
    settings.limits.receiving_bytes = 300'000;
    auto other = connect();
    const std::string half(200'000, 'h');
    const auto first = put("a", half);
    feed(*client.session, std::string_view(first).substr(0, first.size() - 1));
    CHECK(other.ask(put("b", half)).starts_with("\x02"));
    CHECK(other.ask(get("b")) == no); // the rest was read
    CHECK(client.ask(first.substr(first.size() - 1)) == ok);
    CHECK(other.ask(put("b", half)) == ok);
  }

  TEST_CASE_FIXTURE(fixture, "what is no request ends the connection") {
    CHECK(client.ask("GET / HTTP/1.1\r\n\r\n").starts_with("\x02"));
    CHECK(client.host->is_closed);
    CHECK(counters.protocol_errors == 1);
  }

  TEST_CASE_FIXTURE(fixture, "a reader's writes are refused, and the connection goes on") {
    client = connect(role::reader);
    CHECK(client.ask(put("k", "value")) == crsh_error("anonymous may read only"));
    CHECK(client.ask(put("k", "value"), 1) == crsh_error("anonymous may read only"));
    CHECK(client.ask(remove("k")) == crsh_error("anonymous may read only"));
    CHECK(client.ask(get("k")) == no);
  }

  TEST_CASE_FIXTURE(fixture, "a reader's writes can be dropped silently") {
    auto who = *make_identity(role::reader);
    who.refused = refused_writes::ignore;
    client = {*this, std::make_shared<const identity>(who)};
    CHECK(client.ask(put("k", "value")) == ok);
    CHECK(client.ask(remove("k")) == ok);
    CHECK(client.ask(get("k")) == no);
  }

  TEST_CASE_FIXTURE(fixture, "a listener without anonymous clients answers errors") {
    client = {*this, nullptr};
    CHECK(client.ask(get("k")).starts_with("\x02"));
    CHECK(client.ask(put("k", "value")).starts_with("\x02"));
    CHECK(client.ask("\x04").find("hearth") != std::string::npos);
  }

  TEST_CASE_FIXTURE(fixture, "a cache that cannot be opened is an error") {
    context.entries_of = [](const identity&, unsigned) -> expected<entry_space> {
      return fail(errc::no_space, "the disk is full");
    };
    client = connect();
    CHECK(client.ask(get("k")) == crsh_error("the disk is full"));
  }

  TEST_CASE_FIXTURE(fixture, "a connection reads no more while its output waits") {
    settings.limits.output_bytes = 2000;
    CHECK(client.ask(put("v", std::string(1500, 'v'))) == ok);
    const auto three = get("v") + get("v") + get("v");
    CHECK(feed(*client.session, three) == three.size());
    CHECK_FALSE(client.session->is_ready());
    CHECK(client.host->take_output().size() < 4500);
    client.session->sent();
    CHECK(client.host->take_output() == found(std::string(1500, 'v')));
    CHECK(client.session->is_ready());
  }

  TEST_CASE_FIXTURE(fixture, "draining answers what has begun, and no more") {
    auto idle = connect();
    idle.session->drain();
    CHECK(idle.host->is_closed);
    const auto whole = put("k", "value");
    feed(*client.session, std::string_view(whole).substr(0, whole.size() - 3));
    client.session->drain();
    CHECK_FALSE(client.host->is_closed);
    CHECK(client.ask(whole.substr(whole.size() - 3) + get("k")) == ok);
    CHECK(client.host->is_closed);
  }

  TEST_CASE_FIXTURE(fixture, "a second miss gets the value of the first") {
    auto first = connect(role::writer, true), second = connect(role::writer, true);
    CHECK(first.ask(get("k")) == no);
    feed(*second.session, get("k"));
    CHECK_FALSE(second.session->is_ready());
    CHECK_FALSE(second.session->is_idle());
    SUBCASE("when it is put") { CHECK(first.ask(put("k", "made")) == ok); }
    SUBCASE("when it is inserted") { CHECK(first.ask(put("k", "made", false)) == ok); }
    CHECK(second.settle());
    CHECK(second.host->resumed > 0);
    CHECK(second.host->take_output() == found("made"));
    CHECK(counters.held_hits == 1);
  }

  TEST_CASE_FIXTURE(fixture, "only a get that can wait holds a miss") {
    const auto held = [&](role may, bool holds, const std::string& bytes) {
      auto one = connect(may, holds);
      one.ask(bytes);
      return counters.holders_now.load();
    };
    CHECK(held(role::writer, true, get("a")) == 1);
    CHECK(held(role::writer, true, get("a") + get("b")) == 1); // the last one alone
    CHECK(held(role::writer, true, exists("a")) == 0);
    CHECK(held(role::writer, false, get("a")) == 0);
    CHECK(held(role::reader, true, get("a")) == 0);
  }

  TEST_CASE_FIXTURE(fixture, "requests are counted") {
    client.ask(put("k", "12345") + get("k") + get("l") + exists("k"));
    const auto count = [&](request_kind kind, request_outcome outcome) {
      return counters
          .requests[static_cast<std::size_t>(protocol::crsh)][static_cast<std::size_t>(kind)]
                   [static_cast<std::size_t>(outcome)]
          .load();
    };
    CHECK(count(request_kind::put, request_outcome::done) == 1);
    CHECK(count(request_kind::get, request_outcome::hit) == 1);
    CHECK(count(request_kind::get, request_outcome::miss) == 1);
    CHECK(count(request_kind::exists, request_outcome::hit) == 1);
    CHECK(counters.space("").bytes_in == 5);
    CHECK(counters.space("").bytes_out == 5);
  }

} // TEST_SUITE

} // namespace crsh_session_test
