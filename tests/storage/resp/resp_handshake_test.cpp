// The first commands of a connection, with new servers and old ones.
#include "storage/resp/resp_handshake.hpp"

#include <doctest/doctest.h>

namespace resp_handshake_test {

using namespace hearth::storage;
using outcome = resp_handshake::outcome;
using kind = resp_value::kind;
using words = std::vector<std::string>;

namespace {

resp_value reply(kind type, std::string text = {}) {
  resp_value value;
  value.type = type;
  value.text = std::move(text);
  return value;
}

const resp_value ok = reply(kind::text, "OK");
const resp_value unknown = reply(kind::error, "ERR unknown command `HELLO`, with args beginning");

} // namespace

TEST_CASE("resp handshake: a new server gets greeting, login and name at once") {
  resp_handshake plain({});
  CHECK(plain.command() == words{"HELLO", "3"});
  CHECK(plain.take(reply(kind::map)) == outcome::go_on);
  CHECK(plain.command().empty());

  resp_handshake full({"alice", "s3cret", 4, "hearth"});
  CHECK(full.command() == words{"HELLO", "3", "AUTH", "alice", "s3cret", "SETNAME", "hearth"});
  CHECK(full.take(reply(kind::map)) == outcome::go_on);
  CHECK(full.command() == words{"SELECT", "4"});
  CHECK(full.take(ok) == outcome::go_on);
  CHECK(full.command().empty());

  CHECK(resp_handshake({"", "s3cret", 0, ""}).command() ==
        words{"HELLO", "3", "AUTH", "default", "s3cret"});
}

TEST_CASE("resp handshake: an old server gets a separate command for each") {
  resp_handshake full({"alice", "s3cret", 4, "hearth"});
  CHECK(full.take(unknown) == outcome::go_on);
  CHECK(full.command() == words{"AUTH", "alice", "s3cret"});
  CHECK(full.take(ok) == outcome::go_on);
  CHECK(full.command() == words{"CLIENT", "SETNAME", "hearth"});
  CHECK(full.take(reply(kind::error, "ERR unknown command CLIENT")) == outcome::go_on);
  CHECK(full.command() == words{"SELECT", "4"});
  CHECK(full.take(ok) == outcome::go_on);
  CHECK(full.command().empty());

  resp_handshake no_resp3({"", "s3cret", 0, ""});
  CHECK(no_resp3.take(reply(kind::error, "NOPROTO unsupported protocol version")) ==
        outcome::go_on);
  CHECK(no_resp3.command() == words{"AUTH", "s3cret"});
  CHECK(no_resp3.take(ok) == outcome::go_on);
  CHECK(no_resp3.command().empty());

  resp_handshake open_server({"", "", 0, ""});
  CHECK(open_server.take(unknown) == outcome::go_on);
  CHECK(open_server.command().empty());
}

TEST_CASE("resp handshake: an error of the server ends it, with the server's text") {
  for (const auto* text : {"WRONGPASS invalid username-password pair or user is disabled.",
                           "NOAUTH HELLO must be called with the client already authenticated",
                           "ERR max number of clients reached", "LOADING Redis is loading"}) {
    resp_handshake one({"", "s3cret", 0, "hearth"});
    CHECK(one.take(reply(kind::error, text)) == outcome::refused);
    CHECK(one.problem() == text);
  }
  resp_handshake old({"", "s3cret", 3, ""});
  CHECK(old.take(unknown) == outcome::go_on);
  CHECK(old.take(reply(kind::error, "ERR invalid password")) == outcome::refused);
  resp_handshake far({"", "", 99, ""});
  CHECK(far.take(reply(kind::map)) == outcome::go_on);
  CHECK(far.take(reply(kind::error, "ERR DB index is out of range")) == outcome::refused);
}

TEST_CASE("resp handshake: a replica is refused where a master is wanted") {
  const auto greeting = [](const std::string& role) {
    auto map = reply(kind::map);
    map.items = {reply(kind::bytes, "server"), reply(kind::bytes, "redis"),
                 reply(kind::bytes, "role"), reply(kind::bytes, role)};
    return map;
  };
  resp_handshake master({"", "", 0, "", true});
  CHECK(master.take(greeting("master")) == outcome::go_on);
  resp_handshake replica({"", "", 0, "", true});
  CHECK(replica.take(greeting("replica")) == outcome::refused);
  CHECK(replica.problem() == "MASTERDOWN the server is a replica");
  CHECK(resp_handshake({}).take(greeting("replica")) == outcome::go_on);
}

TEST_CASE("resp handshake: a server that is no hearth serve is refused where one is wanted") {
  resp_login login{"", "", 0, ""};
  login.wants_hearth = true;
  const auto hello = [](kind type, const std::string& module, std::int64_t version) {
    auto one = reply(type);
    one.items = {reply(kind::bytes, "name"), reply(kind::bytes, module), reply(kind::bytes, "ver"),
                 reply(kind::integer)};
    one.items.back().integer = version;
    auto modules = reply(kind::array);
    modules.items = {one};
    auto all = reply(type);
    all.items = {reply(kind::bytes, "server"), reply(kind::bytes, "redis"),
                 reply(kind::bytes, "modules"), modules};
    return all;
  };
  for (const auto type : {kind::map, kind::array}) {
    resp_handshake right(login);
    CHECK(right.take(hello(type, "hearth", 1)) == outcome::go_on);
    CHECK(right.command().empty());
    CHECK(resp_handshake(login).take(hello(type, "hearth", 2)) == outcome::go_on);
    for (const auto& other : {hello(type, "hearth", 0), hello(type, "json", 1), reply(type)}) {
      resp_handshake wrong(login);
      CHECK(wrong.take(other) == outcome::other_server);
      CHECK(wrong.problem() ==
            "the server is no hearth serve that can be a remote tier; to a Redis or Valkey say "
            "redis://");
    }
  }
  CHECK(resp_handshake(login).take(unknown) == outcome::other_server);
  // Credentials come first.
  resp_handshake denied(login);
  CHECK(denied.take(reply(kind::error, "WRONGPASS invalid")) == outcome::refused);
  CHECK(denied.problem() == "WRONGPASS invalid");
}

TEST_CASE("resp handshake: a reply of another type is garbage, and does not contain the password") {
  resp_handshake hello({"", "s3cret", 0, ""});
  CHECK(hello.take(ok) == outcome::garbage);
  CHECK(hello.problem().find("s3cret") == std::string::npos);
  resp_handshake old({"", "s3cret", 0, ""});
  CHECK(old.take(unknown) == outcome::go_on);
  CHECK(old.take(reply(kind::integer)) == outcome::garbage);
  CHECK(old.problem() == "the server's reply to AUTH makes no sense");
}

} // namespace resp_handshake_test
