// The commands that a remote tier needs beside strings: hashes, streams and its scripts; each
// beside a real redis-server, whose replies are the oracle.
#include "storage/remote/scripts.hpp"
#include "tests/runtime/server/resp_client.hpp"
#include "tests/support/local_redis.hpp"

#include <doctest/doctest.h>

#include <poll.h>
#include <regex>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

using namespace hearth;
using namespace hearth::test;
using server::user_role;
using storage::remote_script;
using storage::text_of;

namespace {

// A connection to a real server.
class redis_peer {
public:
  explicit redis_peer(const local_redis& at)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    at.socket().string().copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  }

  // The replies to these bytes: all that comes before that to a PING behind them.
  std::string ask(const std::string& bytes) {
    const std::string end = "$4\r\nover\r\n";
    const auto all = bytes + client::encoded({"PING", "over"});
    REQUIRE(::send(socket_.get(), all.data(), all.size(), 0) == static_cast<ssize_t>(all.size()));
    std::string text;
    while (!text.ends_with(end)) {
      pollfd waits{socket_.get(), POLLIN, 0};
      REQUIRE(::poll(&waits, 1, 60'000) == 1);
      char part[4096];
      const auto got = ::recv(socket_.get(), part, sizeof part, 0);
      REQUIRE(got > 0);
      text.append(part, static_cast<std::size_t>(got));
    }
    return text.substr(0, text.size() - end.size());
  }

private:
  os::descriptor socket_;
};

// Each server gives ids by its own clock.
std::string without_ids(const std::string& replies) {
  static const std::regex id("\\$[0-9]+\r\n[0-9]{10,}-[0-9]+");
  return std::regex_replace(replies, id, "$ID");
}

std::string script(remote_script one) { return std::string(text_of(one)); }

const auto renew = script(remote_script::renew_lease);
const auto give_back = script(remote_script::give_back);
const auto add_fields = script(remote_script::add_fields);
const auto replace_mark = script(remote_script::replace_mark);

// Hashes, in order; each line builds on those before it.
const std::vector<std::vector<std::string_view>> hash_steps = {
    {"HGETALL", "h"},
    {"HLEN", "h"},
    {"HGET", "h", "a"},
    {"HEXISTS", "h", "a"},
    {"HDEL", "h", "a"},
    {"TYPE", "h"},
    {"HSET", "h", "a", "1", "b", "2"},
    {"HSET", "h", "b", "3", "c", ""},
    {"HSET", "h", "b", "3"},
    {"HSET", "h", "twice", "1", "twice", "2"},
    {"HGETALL", "h"},
    {"HLEN", "h"},
    {"HGET", "h", "b"},
    {"HGET", "h", "c"},
    {"HEXISTS", "h", "c"},
    {"HDEL", "h", "twice", "none", "twice"},
    {"TYPE", "h"},
    {"EXISTS", "h", "h", "none"},
    {"TTL", "h"},
    {"EXPIRE", "h", "100"},
    {"TTL", "h"},
    {"HSET", "h", "d", "4"},
    {"TTL", "h"},
    {"PERSIST", "h"},
    {"TTL", "h"},
    {"GET", "h"},
    {"STRLEN", "h"},
    {"GETRANGE", "h", "0", "-1"},
    {"MGET", "h", "none"},
    {"GETSET", "h", "x"},
    {"GETDEL", "h"},
    {"GETEX", "h"},
    {"GETEX", "h", "PERSIST"},
    {"SET", "h", "x", "GET"},
    {"SET", "h", "x", "NX"},
    {"SETNX", "h", "x"},
    {"HGETALL", "h"},
    {"SET", "s", "text"},
    {"HGET", "s", "a"},
    {"HGETALL", "s"},
    {"HLEN", "s"},
    {"HEXISTS", "s", "a"},
    {"HSET", "s", "a", "1"},
    {"HDEL", "s", "a"},
    {"GET", "s"},
    {"HDEL", "h", "a", "b", "c", "d"},
    {"EXISTS", "h"},
    {"HSET", "h", "a", "1"},
    {"SET", "h", "now text"},
    {"GET", "h"},
    {"GETEX", "h"},
    {"GETEX", "h", "EX", "100"},
    {"TTL", "h"},
    {"GETEX", "h"},
    {"TTL", "h"},
    {"GETEX", "h", "persist"},
    {"TTL", "h"},
    {"GETEX", "h", "EX"},
    {"GETEX", "h", "EX", "0"},
    {"GETEX", "h", "PX", "-5"},
    {"GETEX", "h", "EX", "x"},
    {"GETEX", "h", "FOO", "1"},
    {"GETEX", "h", "EX", "1", "PERSIST"},
    {"GETEX", "h", "PXAT", "1"},
    {"EXISTS", "h"},
    {"GETEX", "h", "EX", "100"},
    {"SET", "h", "now text"},
    {"DEL", "h"},
    {"HSET", "h", "a", "1"},
    {"UNLINK", "h", "none"},
    {"HGETALL", "h"},
    {"HSET", "h", "a"},
    {"HSET", "h", "a", "1", "b"},
    {"HGETALL"},
    {"HDEL", "h"},
    {"HSET", "gone", "a", "1"},
    {"PEXPIREAT", "gone", "1"},
    {"HGETALL", "gone"},
};

const std::vector<std::vector<std::string_view>> stream_steps = {
    {"XLEN", "s"},
    {"XRANGE", "s", "-", "+"},
    {"XREAD", "STREAMS", "s", "0"},
    {"XADD", "s", "NOMKSTREAM", "*", "n", "0"},
    {"EXISTS", "s"},
    {"TYPE", "s"},
    {"XADD", "s", "*", "n", "1"},
    {"XADD", "s", "*", "n", "2", "m", ""},
    {"XADD", "s", "MAXLEN", "3", "*", "n", "3"},
    {"XADD", "s", "MAXLEN", "=", "3", "*", "n", "4"},
    {"TYPE", "s"},
    {"EXISTS", "s"},
    {"XLEN", "s"},
    {"XRANGE", "s", "-", "+"},
    {"XRANGE", "s", "-", "+", "COUNT", "1"},
    {"XRANGE", "s", "-", "+", "COUNT", "0"},
    {"XRANGE", "s", "-", "+", "COUNT", "-1"},
    {"XREVRANGE", "s", "+", "-"},
    {"XREVRANGE", "s", "+", "-", "COUNT", "2"},
    {"XREVRANGE", "s", "-", "+"},
    {"XRANGE", "s", "5", "1"},
    {"XRANGE", "s", "(0-1", "+", "COUNT", "1"},
    {"XREAD", "COUNT", "2", "STREAMS", "s", "0-0"},
    {"XREAD", "COUNT", "0", "STREAMS", "s", "0"},
    {"XREAD", "STREAMS", "s", "none", "0", "0"},
    {"XREAD", "STREAMS", "s", "$"},
    {"XREAD", "BLOCK", "1", "STREAMS", "s", "$"},
    {"XADD", "s", "MAXLEN", "0", "*", "n", "5"},
    {"XLEN", "s"},
    {"XADD", "s", "x-1", "n", "1"},
    {"XADD", "s", "*", "n"},
    {"XADD", "s", "*"},
    {"XADD", "s", "MAXLEN", "x", "*", "n", "1"},
    {"XADD", "s", "MAXLEN", "-1", "*", "n", "1"},
    {"XRANGE", "s", "x", "+"},
    {"XRANGE", "s", "-", "1-x"},
    {"XRANGE", "s", "-", "+", "COUNT"},
    {"XRANGE", "s", "-", "+", "COUNT", "x"},
    {"XRANGE", "s", "(18446744073709551615-18446744073709551615", "+"},
    {"XRANGE", "s", "-", "(0-0"},
    {"XREAD", "STREAMS", "s", "x"},
    {"XREAD", "STREAMS", "s", "t", "0"},
    {"XREAD", "COUNT", "x", "STREAMS", "s", "0"},
    {"XREAD", "BLOCK", "x", "STREAMS", "s", "0"},
    {"XREAD", "BLOCK", "-1", "STREAMS", "s", "0"},
    {"XREAD", "FAST", "1", "STREAMS", "s", "0"},
    {"XREAD", "COUNT", "1", "s", "0"},
    {"DEL", "s"},
    {"XLEN", "s"},
    {"DEL", "s"},
};

const std::vector<std::vector<std::string_view>> script_steps = {
    {"EVAL", renew, "1", "l", "mine", "60000"},
    {"GET", "l"},
    {"TTL", "l"},
    {"EVAL", renew, "1", "l", "mine", "120000"},
    {"TTL", "l"},
    {"EVAL", renew, "1", "l", "other", "60000"},
    {"TTL", "l"},
    {"EVAL", give_back, "1", "l", "other"},
    {"GET", "l"},
    {"EVAL", give_back, "1", "l", "mine"},
    {"EVAL", give_back, "1", "l", "mine"},
    {"GET", "l"},
    {"SET", "l", "endless"},
    {"EVAL", renew, "1", "l", "endless", "60000"},
    {"TTL", "l"},
    {"EVAL", add_fields, "1", "h", "60000", "a", "1", "b", "2"},
    {"TTL", "h"},
    {"HSET", "h", "c", "3"},
    {"EVAL", add_fields, "1", "h", "120000", "a", "1"},
    {"TTL", "h"},
    {"HGETALL", "h"},
    {"EVAL", replace_mark, "1", "k", "mark", "value", "0"},
    {"GET", "k"},
    {"TTL", "k"},
    {"EVAL", replace_mark, "1", "k", "mark", "later", "0"},
    {"GET", "k"},
    {"SET", "k", "mark"},
    {"EVAL", replace_mark, "1", "k", "mark", "later", "60000"},
    {"GET", "k"},
    {"TTL", "k"},
    {"SCRIPT", "EXISTS", "0000000000000000000000000000000000000000"},
    {"SCRIPT", "LOAD", renew},
    {"SCRIPT", "LOAD", give_back},
    {"EVALSHA", "0000000000000000000000000000000000000000", "1", "k"},
};

void compare(const std::vector<std::vector<std::string_view>>& steps, std::string_view hello) {
  const local_redis redis;
  redis_peer oracle(redis);
  server_bench bench;
  auto ours = writer_of(bench);
  static_cast<void>(oracle.ask(client::encoded({"HELLO", hello})));
  static_cast<void>(ours.command({"HELLO", hello}));
  for (const auto& words : steps) {
    std::string text;
    for (const auto word : words)
      text.append(word.substr(0, 30)).append(" ");
    CAPTURE(text);
    const auto bytes = client::encoded(words);
    auto given = ours.ask(bytes);
    // The time of BLOCK passes.
    if (given.empty()) ours.host->run_timers(), given = ours.ask("");
    CHECK(without_ids(given) == without_ids(oracle.ask(bytes)));
  }
}

} // namespace

TEST_CASE("resp session: hashes answer as a real redis-server does") {
  compare(hash_steps, "2");
  compare(hash_steps, "3");
}

TEST_CASE("resp session: streams answer as a real redis-server does") {
  compare(stream_steps, "2");
  compare(stream_steps, "3");
}

TEST_CASE("resp session: the remote tier's scripts answer as a real redis-server does") {
  compare(script_steps, "3");
}

TEST_CASE("resp session: EVALSHA runs what SCRIPT LOAD named, and other scripts are refused") {
  server_bench bench;
  auto one = writer_of(bench);
  const auto loaded = one.command({"SCRIPT", "LOAD", give_back});
  REQUIRE(loaded.starts_with("$40\r\n"));
  const auto name = loaded.substr(5, 40);
  CHECK(one.command({"SET", "l", "t"}) == "+OK\r\n");
  CHECK(one.command({"SCRIPT", "EXISTS", name, "x"}) == "*2\r\n:1\r\n:0\r\n");
  CHECK(one.command({"EVALSHA", name, "1", "l", "t"}) == ":1\r\n");
  CHECK(one.command({"GET", "l"}) == "$-1\r\n");
  const std::string refused =
      "-ERR this server runs the scripts of Hearth's remote tier and no others\r\n";
  CHECK(one.command({"EVAL", "return 1", "0"}) == refused);
  CHECK(one.command({"EVAL", give_back + " ", "1", "l", "t"}) == refused);
  CHECK(one.command({"SCRIPT", "LOAD", "return 1"}) == refused);
  for (const std::vector<std::string_view>& words :
       {std::vector<std::string_view>{"EVAL", give_back, "1"},
        {"EVAL", give_back, "1", "l"},
        {"EVAL", give_back, "1", "l", "t", "more"},
        {"EVAL", give_back, "2", "l", "t"},
        {"EVAL", add_fields, "1", "l", "100"},
        {"EVAL", add_fields, "1", "l", "100", "f"}})
    CHECK(one.command(words) == "-ERR the script takes one key, and other arguments\r\n");
  for (const auto* const time : {"0", "-1", "x", "9223372036854775807"})
    CHECK(one.command({"EVAL", renew, "1", "l", "t", time}) ==
          "-ERR invalid expire time in script\r\n");
  CHECK(one.command({"GET", "l"}) == "$-1\r\n");
}

TEST_CASE("resp session: fields that many connections add at once are all there") {
  server_bench bench;
  constexpr int connections = 8, fields = 20;
  std::vector<client> all;
  for (int i = 0; i < connections; ++i)
    all.push_back(writer_of(bench));
  // Each sends all its commands before anyone waits for a reply.
  for (int i = 0; i < connections; ++i) {
    std::string bytes;
    for (int f = 0; f < fields; ++f)
      bytes += client::encoded({"HSET", "h", std::to_string(i) + "-" + std::to_string(f), "v"});
    feed(*all[static_cast<std::size_t>(i)].session, bytes);
  }
  for (auto& one : all)
    static_cast<void>(one.ask(""));
  auto reader = writer_of(bench);
  CHECK(reader.command({"HLEN", "h"}) == ":" + std::to_string(connections * fields) + "\r\n");
}

TEST_CASE("resp session: a hash has the limit of a value, and a scan tells hashes from strings") {
  server_bench bench;
  bench.settings.limits.value_bytes = 1000;
  auto one = writer_of(bench);
  const std::string large(900, 'v');
  CHECK(one.command({"HSET", "h", "a", large}) == ":1\r\n");
  CHECK(one.command({"HSET", "h", "b", large}) ==
        "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n");
  CHECK(one.command({"HLEN", "h"}) == ":1\r\n");
  CHECK(one.command({"HSET", "h", "a", "small", "b", large}) == ":1\r\n");
  CHECK(one.command({"SET", "s", "text"}) == "+OK\r\n");
  client admin(bench, server_bench::make_identity(user_role::admin));
  const auto scan = [&](std::string_view type) {
    return admin.command({"SCAN", "0", "COUNT", "10000", "TYPE", type});
  };
  CHECK(scan("hash").ends_with("*1\r\n$1\r\nh\r\n"));
  CHECK(scan("string").ends_with("*1\r\n$1\r\ns\r\n"));
  CHECK(scan("zset").ends_with("*0\r\n"));
  CHECK(admin.command({"XADD", "log", "*", "a", "b"}).starts_with("$"));
  CHECK(admin.command({"FLUSHDB"}) == "+OK\r\n");
  CHECK(admin.command({"EXISTS", "h", "s", "log"}) == ":0\r\n");
}

TEST_CASE("resp session: a large hash is sent when there is room, or is none after a while") {
  server_bench bench;
  bench.settings.limits.sending_bytes = 1u << 20;
  auto one = writer_of(bench);
  const std::string large(700u << 10, 'v');
  CHECK(one.command({"HSET", "h", "a", large}) == ":1\r\n");
  bench.counters.sending_bytes = 512u << 10;
  feed(*one.session, client::encoded({"HGETALL", "h"}));
  CHECK(one.host->take_output().empty());
  bench.counters.sending_bytes = 0;
  one.host->run_timers();
  CHECK(one.ask("").size() > large.size());
  bench.counters.sending_bytes = 512u << 10;
  feed(*one.session, client::encoded({"HGETALL", "h"}));
  for (int i = 0; i < 500; ++i)
    one.host->run_timers();
  CHECK(one.ask("") == "*0\r\n");
}

TEST_CASE("resp session: one that waits for news hears them, and holds up nobody") {
  server_bench bench;
  auto writer = writer_of(bench);
  auto one = writer_of(bench);
  auto who = *server_bench::make_identity(user_role::reader);
  who.name_space = "pr-7";
  client pull(bench, std::make_shared<const server::identity>(who));
  const auto wait = client::encoded({"XREAD", "BLOCK", "0", "STREAMS", "other", "log", "$", "$"});
  const auto is_waiting = [](client& by) { return by.ask("").empty() && by.session->is_idle(); };
  feed(*one.session, wait + client::encoded({"PING"}));
  feed(*pull.session, wait);
  CHECK(one.host->take_output().empty());
  CHECK(is_waiting(pull));
  CHECK(writer.command({"XADD", "quiet", "*", "n", "0"}).starts_with("$"));
  CHECK(writer.command({"XADD", "log", "*", "n", "1"}).starts_with("$"));
  CHECK(one.ask("").ends_with("$1\r\nn\r\n$1\r\n1\r\n+PONG\r\n"));
  CHECK(pull.host->run_until([&] { return !pull.host->output().is_empty(); }));
  CHECK(pull.host->take_output().ends_with("$1\r\nn\r\n$1\r\n1\r\n"));
  // The trusted namespace does not hear another one.
  feed(*one.session, wait);
  who.role = user_role::writer;
  client pull_writer(bench, std::make_shared<const server::identity>(who));
  CHECK(pull_writer.command({"XADD", "log", "*", "n", "2"}).starts_with("$"));
  CHECK(is_waiting(one));
  // A time that is over, and an end while it waits.
  feed(*pull.session, client::encoded({"XREAD", "BLOCK", "50", "STREAMS", "log", "$"}));
  REQUIRE(pull.host->timers.size() == 1);
  CHECK(pull.host->timers.front().first == std::chrono::milliseconds(50));
  pull.host->run_timers();
  CHECK(pull.ask("") == "*-1\r\n");
  one.session.reset();
  CHECK(writer.command({"XADD", "log", "*", "n", "3"}).starts_with("$"));
}

TEST_CASE("resp session: a drain ends one that waits for news") {
  server_bench bench;
  auto one = writer_of(bench);
  feed(*one.session, client::encoded({"XREAD", "BLOCK", "0", "STREAMS", "log", "$"}));
  CHECK_FALSE(one.host->is_closed);
  bench.context.is_draining = true;
  one.session->drain();
  CHECK(one.host->is_closed);
}

TEST_CASE("resp session: a stream gives its own ids, above a limit it takes nothing more") {
  server_bench bench;
  bench.context.streams = std::make_shared<server::stream_log>(server::stream_settings{
      .file = {}, .now_ms = [] { return std::int64_t{1000}; }, .limits = {.bytes = 2000}});
  auto one = writer_of(bench);
  CHECK(one.command({"XADD", "s", "*", "n", "1"}) == "$6\r\n1000-0\r\n");
  CHECK(one.command({"XADD", "t", "*", "n", "1"}) == "$6\r\n1000-1\r\n");
  CHECK(one.command({"XADD", "s", "5000-1", "n", "1"}) ==
        "-ERR this server gives the IDs of entries; say *\r\n");
  CHECK(one.command({"XADD", "s", "*", "n", std::string(5000, 'v')}).starts_with("-OOM "));
  CHECK(one.command({"XLEN", "s"}) == ":1\r\n");
  CHECK(one.command({"XADD", "s", "*", "n", std::string(1000, 'v')}) == "$6\r\n1000-2\r\n");
}

TEST_CASE("resp session: large entries of streams are sent only where there is room") {
  server_bench bench;
  auto one = writer_of(bench);
  const std::string large(900u << 10, 'v');
  REQUIRE(one.command({"XADD", "s", "*", "n", large}).starts_with("$"));
  bench.counters.sending_bytes = bench.settings.limits.sending_bytes;
  CHECK(one.command({"XRANGE", "s", "-", "+"}).starts_with("-OOM "));
  CHECK(one.command({"XREAD", "STREAMS", "s", "0"}).starts_with("-OOM "));
  bench.counters.sending_bytes = 0;
  CHECK(one.command({"XRANGE", "s", "-", "+"}).size() > large.size());
}
