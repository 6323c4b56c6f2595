#include "runtime/server/resp/resp_session.hpp"

#include "runtime/handle/internals.hpp"
#include "runtime/server/resp/resp_arguments.hpp"
#include "runtime/server/resp/resp_command.hpp"
#include "storage/remote/scripts.hpp"
#include "tests/runtime/server/resp_client.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace hearth;
using namespace hearth::test;
using server::user_role;

TEST_CASE("resp session: values are set, read and dropped") {
  server_bench bench;
  auto one = writer_of(bench);
  CHECK(one.command({"GET", "k"}) == "$-1\r\n");
  CHECK(one.command({"set", "k", "value"}) == "+OK\r\n");
  CHECK(one.command({"GET", "k"}) == "$5\r\nvalue\r\n");
  CHECK(one.command({"STRLEN", "k"}) == ":5\r\n");
  CHECK(one.command({"GETRANGE", "k", "1", "-2"}) == "$3\r\nalu\r\n");
  CHECK(one.command({"EXISTS", "k", "other", "k"}) == ":2\r\n");
  CHECK(one.command({"TYPE", "k"}) == "+string\r\n");
  CHECK(one.command({"MSET", "a", "1", "b", "2"}) == "+OK\r\n");
  CHECK(one.command({"MGET", "a", "none", "b"}) == "*3\r\n$1\r\n1\r\n$-1\r\n$1\r\n2\r\n");
  CHECK(one.command({"DEL", "a", "b", "none"}) == ":2\r\n");
  CHECK(one.command({"GET", "a"}) == "$-1\r\n");
  CHECK(one.command({"GETSET", "k", "new"}) == "$5\r\nvalue\r\n");
  CHECK(one.command({"GETDEL", "k"}) == "$3\r\nnew\r\n");
  CHECK(one.command({"GETDEL", "k"}) == "$-1\r\n");
}

TEST_CASE("resp session: keys and values of any bytes, and keys of 64 KiB") {
  server_bench bench;
  auto one = writer_of(bench);
  std::string all_bytes;
  for (int i = 0; i < 256; ++i)
    all_bytes += static_cast<char>(i);
  const std::string longest(65536, '\xff');
  auto other_long = longest;
  other_long.back() = 'x';
  for (const auto& key : {std::string(), all_bytes, longest, other_long}) {
    CHECK(one.command({"SET", key, all_bytes}) == "+OK\r\n");
    CHECK(one.command({"GET", key}) == "$256\r\n" + all_bytes + "\r\n");
  }
  CHECK(one.command({"SET", "empty", ""}) == "+OK\r\n");
  CHECK(one.command({"GET", "empty"}) == "$0\r\n\r\n");
  CHECK(one.command({"DEL", longest}) == ":1\r\n");
  CHECK(one.command({"EXISTS", longest, other_long}) == ":1\r\n");
}

TEST_CASE("resp session: a value above the limit is refused before its bytes") {
  server_bench bench;
  bench.settings.limits.value_bytes = 100;
  const std::string most(100, 'v'), more(101, 'v');
  auto one = writer_of(bench);
  CHECK(one.ask(client::encoded({"SET", "k", most}) + "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$101\r\n") ==
        "+OK\r\n-ERR Protocol error: invalid bulk length\r\n");
  CHECK(one.host->is_closed);
  // The line of an inline command is there as a whole.
  auto other = writer_of(bench);
  const std::string refused = "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n";
  CHECK(other.ask("SET l " + most + "\r\nSET l " + more + "\r\nGETSET k " + more +
                  "\r\nSTRLEN k\r\nSTRLEN l\r\n") ==
        "+OK\r\n" + refused + refused + ":100\r\n:100\r\n");
}

TEST_CASE("resp session: an inline command may have 64 KiB") {
  server_bench bench;
  auto one = writer_of(bench);
  const std::string most((64u << 10) - std::string_view("SET k ").size(), 'v');
  CHECK(one.ask("SET k " + most + "\r\nSTRLEN k\r\n", 1000) ==
        "+OK\r\n:" + std::to_string(most.size()) + "\r\n");
  CHECK(one.ask("SET k " + most + "vv\r\n") == "-ERR Protocol error: too big inline request\r\n");
}

TEST_CASE("resp session: numbers have the one form that Redis takes") {
  server_bench bench;
  auto one = writer_of(bench);
  REQUIRE(one.command({"SET", "k", "value"}) == "+OK\r\n");
  const std::string no_integer = "-ERR value is not an integer or out of range\r\n";
  for (const std::string wrong :
       {"01", "+1", "-0", "00", " 1", "1 ", "", "-", "--1", "-01", "0x1"}) {
    CAPTURE(wrong);
    CHECK(one.command({"SET", "k", "v", "EX", wrong}) == no_integer);
    CHECK(one.command({"GETRANGE", "k", wrong, "4"}) == no_integer);
    CHECK(one.command({"EXPIRE", "k", wrong}) == no_integer);
    CHECK(one.command({"SELECT", wrong}) == no_integer);
  }
  CHECK(one.command({"GETRANGE", "k", "0", "-1"}) == "$5\r\nvalue\r\n");
  for (const std::string wrong : {"*01\r\n", "*+1\r\n", "*-0\r\n", "*1048577\r\n"}) {
    CAPTURE(wrong);
    auto other = writer_of(bench);
    CHECK(other.ask(wrong) == "-ERR Protocol error: invalid multibulk length\r\n");
    CHECK(other.host->is_closed);
  }
  for (const std::string wrong : {"$04\r\n", "$+4\r\n", "$-0\r\n", "$536870913\r\n"}) {
    CAPTURE(wrong);
    auto other = writer_of(bench);
    CHECK(other.ask("*1\r\n" + wrong) == "-ERR Protocol error: invalid bulk length\r\n");
    CHECK(other.host->is_closed);
  }
}

TEST_CASE("resp session: subcommands with other words than Redis's are errors") {
  server_bench bench;
  client one(bench, server_bench::make_identity(user_role::admin));
  const auto wrong = [](const std::string& name) {
    return "-ERR wrong number of arguments for '" + name + "' command\r\n";
  };
  CHECK(one.command({"CLIENT", "SETNAME"}) == wrong("client|setname"));
  CHECK(one.command({"CLIENT", "setname", "a", "b"}) == wrong("client|setname"));
  CHECK(one.command({"CLIENT", "ID", "x"}) == wrong("client|id"));
  CHECK(one.command({"CLIENT", "INFO", "x"}) == wrong("client|info"));
  CHECK(one.command({"CLIENT", "GETNAME", "x"}) == wrong("client|getname"));
  CHECK(one.command({"CLIENT", "LIST", "x"}) == "-ERR syntax error\r\n");
  CHECK(one.command({"CLIENT", "LIST", "TYPE", "normal"}).starts_with("$"));
  CHECK(one.command({"CLIENT", "NO-EVICT", "foo"}) == "-ERR syntax error\r\n");
  CHECK(one.command({"CLIENT", "NO-EVICT", "on"}) == "+OK\r\n");
  CHECK(one.command({"CLIENT", "FLY"}) == "-ERR unknown subcommand 'FLY'. Try CLIENT HELP.\r\n");
  CHECK(one.command({"CONFIG", "GET"}) == wrong("config|get"));
  CHECK(one.command({"CONFIG", "SET", "requirepass"}) == wrong("config|set"));
  CHECK(one.command({"COMMAND", "COUNT", "x"}) == wrong("command|count"));
  REQUIRE(one.command({"SET", "k", "v"}) == "+OK\r\n");
  CHECK(one.command({"FLUSHDB", "SYNC", "ASYNC"}) == "-ERR syntax error\r\n");
  CHECK(one.command({"FLUSHALL", "NOW"}) == "-ERR syntax error\r\n");
  CHECK(one.command({"GET", "k"}) == "$1\r\nv\r\n");
  CHECK(one.command({"FLUSHALL", "async"}) == "+OK\r\n");
}

TEST_CASE("resp session: a password where none is set is an error of its own") {
  server_bench bench;
  auto one = writer_of(bench);
  CHECK(one.command({"AUTH", "x"}).starts_with("-ERR AUTH <password> called without any password"));
  client other(bench, nullptr); // it needs some credentials
  CHECK(other.command({"AUTH", "x"}).starts_with("-WRONGPASS "));
}

TEST_CASE("resp session: commands byte by byte, inline and pipelined are answered in order") {
  server_bench bench;
  auto one = writer_of(bench);
  std::string all;
  for (int i = 0; i < 50; ++i) {
    const auto number = std::to_string(i);
    all += client::encoded({"SET", "k" + number, number});
    if (i % 3 == 0) all += client::encoded({"GET", "k" + number});
  }
  all += "PING\r\nGET k7\r\nNONSENSE x\r\n";
  std::string wanted;
  for (int i = 0; i < 50; ++i) {
    const auto number = std::to_string(i);
    wanted += "+OK\r\n";
    if (i % 3 == 0) wanted += "$" + std::to_string(number.size()) + "\r\n" + number + "\r\n";
  }
  wanted += "+PONG\r\n$1\r\n7\r\n"
            "-ERR unknown command 'NONSENSE', with args beginning with: 'x' \r\n";
  CHECK(one.ask(all) == wanted);
  CHECK(one.ask(all, 1) == wanted);
}

TEST_CASE("resp session: a request of HTTP ends the connection before its body is run") {
  server_bench bench;
  for (const std::string head :
       {"POST / HTTP/1.1\r\n", "post /x HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: 127.0.0.1:6379\r\n",
        "PUT /k HTTP/1.1\r\nhost:\r\n"})
    for (const std::size_t step : {std::size_t{1}, std::size_t{1} << 20}) {
      CAPTURE(head);
      auto one = writer_of(bench);
      const auto replies =
          one.ask(head + "Content-Length: 28\r\n\r\nx=\r\nSET poisoned evil\r\n\r\n", step);
      CHECK(one.host->is_closed);
      CHECK(replies.find("+OK") == std::string::npos);
      auto other = writer_of(bench);
      CHECK(other.command({"GET", "poisoned"}) == "$-1\r\n");
    }
  CHECK(bench.counters.protocol_errors == 8);
}

TEST_CASE("resp session: what was sent before a request of HTTP is done") {
  server_bench bench;
  auto one = writer_of(bench);
  CHECK(one.ask(client::encoded({"SET", "k", "v"}) + client::encoded({"POST", "x"}) +
                client::encoded({"SET", "k", "evil"})) == "+OK\r\n");
  CHECK(one.host->is_closed);
  auto other = writer_of(bench);
  CHECK(other.command({"GET", "k"}) == "$1\r\nv\r\n");
}

TEST_CASE("resp session: errors and other commands between writes come in their turn") {
  server_bench bench;
  auto one = writer_of(bench);
  const auto all = client::encoded({"SET", "a", "1"}) + client::encoded({"SETEX", "a", "x", "1"}) +
                   client::encoded({"SET", "a", "2", "NX"}) + client::encoded({"SET", "b", "3"}) +
                   client::encoded({"MSET", "c"}) + client::encoded({"MSET", "c", "4", "d"}) +
                   client::encoded({"SET", "a", "5", "GET"}) + client::encoded({"SET", "e", "6"}) +
                   client::encoded({"FLY"}) + client::encoded({"SET", "f", "7"}) + "*1\r\n:1\r\n";
  const std::string wanted = "+OK\r\n-ERR value is not an integer or out of range\r\n$-1\r\n+OK\r\n"
                             "-ERR wrong number of arguments for 'mset' command\r\n"
                             "-ERR wrong number of arguments for 'mset' command\r\n"
                             "$1\r\n1\r\n+OK\r\n"
                             "-ERR unknown command 'FLY', with args beginning with: \r\n+OK\r\n"
                             "-ERR Protocol error: ";
  CHECK(one.ask(all).starts_with(wanted));
}

TEST_CASE("resp session: large values that are received and sent are bounded for all") {
  server_bench bench;
  bench.settings.limits.receiving_bytes = 1u << 20;
  bench.settings.limits.sending_bytes = 1u << 20;
  auto one = writer_of(bench);
  auto two = writer_of(bench);
  const std::string value(700u << 10, 'v');
  const auto command = client::encoded({"SET", "k", value});
  feed(*one.session, std::string_view(command).substr(0, 650u << 10));
  CHECK(bench.counters.receiving_bytes >= 600u << 10);
  CHECK(two.ask(command) == "-OOM too many large values are being received: try later\r\n");
  CHECK(two.host->is_closed);
  two.session.reset();
  CHECK(one.ask(std::string_view(command).substr(650u << 10)) == "+OK\r\n");
  CHECK(bench.counters.receiving_bytes == 0);
  bench.counters.sending_bytes = 512u << 10;
  CHECK(one.command({"MGET", "k"}) == "*1\r\n$-1\r\n");
  // One that waits is answered when there is room, or as a miss after a while.
  feed(*one.session, client::encoded({"GET", "k"}));
  CHECK(one.host->take_output().empty());
  bench.counters.sending_bytes = 0;
  one.host->run_timers();
  CHECK(one.ask("").size() > value.size());
  bench.counters.sending_bytes = 512u << 10;
  feed(*one.session, client::encoded({"GET", "k"}));
  for (int i = 0; i < 500; ++i)
    one.host->run_timers();
  CHECK(one.ask("") == "$-1\r\n");
}

TEST_CASE("resp session: SET with a condition, and the old value") {
  server_bench bench;
  auto one = writer_of(bench);
  CHECK(one.command({"SET", "k", "a", "XX"}) == "$-1\r\n");
  CHECK(one.command({"SET", "k", "a", "NX"}) == "+OK\r\n");
  CHECK(one.command({"SET", "k", "b", "NX"}) == "$-1\r\n");
  CHECK(one.command({"SET", "k", "b", "GET"}) == "$1\r\na\r\n");
  CHECK(one.command({"SET", "k", "c", "XX", "GET"}) == "$1\r\nb\r\n");
  CHECK(one.command({"GET", "k"}) == "$1\r\nc\r\n");
  CHECK(one.command({"SETNX", "k", "d"}) == ":0\r\n");
  CHECK(one.command({"SETNX", "new", "d"}) == ":1\r\n");
  CHECK(one.command({"SET", "k", "v", "NX", "XX"}) == "-ERR syntax error\r\n");
  CHECK(one.command({"SET", "k", "v", "EX"}) == "-ERR syntax error\r\n");
  CHECK(one.command({"SET", "k", "v", "EX", "x"}) ==
        "-ERR value is not an integer or out of range\r\n");
  CHECK(one.command({"SET", "k", "v", "EX", "0"}) ==
        "-ERR invalid expire time in 'set' command\r\n");
  CHECK(one.command({"SET", "k", "v", "PX", "9223372036854775807"}) ==
        "-ERR invalid expire time in 'set' command\r\n");
}

TEST_CASE("resp session: an expired entry is none") {
  server_bench bench;
  auto one = writer_of(bench);
  CHECK(one.command({"SET", "k", "v", "PXAT", "1"}) == "+OK\r\n");
  CHECK(one.command({"GET", "k"}) == "$-1\r\n");
  CHECK(one.command({"EXISTS", "k"}) == ":0\r\n");
  CHECK(one.command({"TTL", "k"}) == ":-2\r\n");
  CHECK(one.command({"DEL", "k"}) == ":0\r\n");
  CHECK(one.command({"SET", "k", "w", "NX"}) == "+OK\r\n");
  CHECK(one.command({"TTL", "k"}) == ":-1\r\n");
  CHECK(one.command({"EXPIRE", "k", "100"}) == ":1\r\n");
  CHECK(one.command({"TTL", "k"}) == ":100\r\n");
  CHECK(one.command({"SET", "k", "x", "KEEPTTL"}) == "+OK\r\n");
  CHECK(one.command({"TTL", "k"}) == ":100\r\n");
  CHECK(one.command({"PERSIST", "k"}) == ":1\r\n");
  CHECK(one.command({"PERSIST", "k"}) == ":0\r\n");
  CHECK(one.command({"SETEX", "k", "50", "y"}) == "+OK\r\n");
  CHECK(one.command({"TTL", "k"}) == ":50\r\n");
  CHECK(one.command({"EXPIRE", "k", "-1"}) == ":1\r\n");
  CHECK(one.command({"GET", "k"}) == "$-1\r\n");
  CHECK(one.command({"EXPIRE", "k", "10"}) == ":0\r\n");
}

TEST_CASE("resp session: EXPIRE changes a time under the conditions that Redis knows") {
  server_bench bench;
  auto one = writer_of(bench);
  REQUIRE(one.command({"SET", "k", "v"}) == "+OK\r\n");
  CHECK(one.command({"EXPIRE", "k", "100", "XX"}) == ":0\r\n");
  CHECK(one.command({"EXPIRE", "k", "100", "GT"}) == ":0\r\n"); // without a time it never ends
  CHECK(one.command({"TTL", "k"}) == ":-1\r\n");
  CHECK(one.command({"EXPIRE", "k", "100", "lt"}) == ":1\r\n");
  CHECK(one.command({"EXPIRE", "k", "200", "NX"}) == ":0\r\n");
  CHECK(one.command({"EXPIRE", "k", "200", "LT"}) == ":0\r\n");
  CHECK(one.command({"EXPIRE", "k", "200", "XX", "GT"}) == ":1\r\n");
  CHECK(one.command({"PEXPIRE", "k", "150000", "GT"}) == ":0\r\n");
  CHECK(one.command({"TTL", "k"}) == ":200\r\n");
  CHECK(one.command({"GET", "k"}) == "$1\r\nv\r\n");
  CHECK(one.command({"EXPIRE", "k", "1", "NX", "GT"}) ==
        "-ERR NX and XX, GT or LT options at the same time are not compatible\r\n");
  CHECK(one.command({"EXPIRE", "k", "1", "GT", "LT"}) ==
        "-ERR GT and LT options at the same time are not compatible\r\n");
  CHECK(one.command({"EXPIRE", "k", "1", "soon"}) == "-ERR Unsupported option soon\r\n");
  CHECK(one.command({"EXPIRE", "k", "9223372036854775807"}) ==
        "-ERR invalid expire time in 'expire' command\r\n");
  CHECK(one.command({"PEXPIRE", "k", "-1", "LT"}) == ":1\r\n");
  CHECK(one.command({"EXISTS", "k"}) == ":0\r\n");
}

TEST_CASE("resp session: a hit of a value that a holder made counts the time that it saved") {
  server_bench bench;
  auto a = writer_of(bench, true);
  auto b = writer_of(bench);
  const auto before = std::chrono::steady_clock::now();
  REQUIRE(a.command({"GET", "k"}) == "$-1\r\n");
  const auto missed = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - missed < std::chrono::milliseconds(5)) {
  }
  REQUIRE(a.command({"SET", "k", "made"}) == "+OK\r\n");
  REQUIRE(b.command({"SET", "plain", "v"}) == "+OK\r\n");
  CHECK(b.command({"GET", "plain"}) == "$1\r\nv\r\n");
  CHECK(b.command({"GETRANGE", "k", "0", "0"}) == "$1\r\nm\r\n"); // a part
  CHECK(b.command({"EXISTS", "k"}) == ":1\r\n");
  CHECK(bench.counters.timed_hits == 0);
  CHECK(bench.counters.saved_ns == 0);
  CHECK(b.command({"GET", "k"}) == "$4\r\nmade\r\n");
  CHECK(bench.counters.timed_hits == 1);
  const auto made_in = time_taken(bench.trusted().get("k").get().value().value);
  CHECK(made_in >= std::chrono::milliseconds(5));
  CHECK(made_in <= std::chrono::steady_clock::now() - before);
  CHECK(bench.counters.saved_ns > 0);
  CHECK(bench.counters.saved_ns < static_cast<std::uint64_t>(made_in.count()));
  CHECK(b.command({"MGET", "k", "k"}) == "*2\r\n$4\r\nmade\r\n$4\r\nmade\r\n");
  CHECK(bench.counters.timed_hits == 3);
  // Another time of expiry is no other value.
  CHECK(b.command({"EXPIRE", "k", "100"}) == ":1\r\n");
  CHECK(time_taken(bench.trusted().get("k").get().value().value) == made_in);
}

TEST_CASE("resp session: RESP3 has its own forms") {
  server_bench bench;
  auto one = writer_of(bench);
  const auto hello = one.command({"HELLO", "3", "SETNAME", "me"});
  CHECK(hello.starts_with("%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n"));
  CHECK(one.command({"GET", "none"}) == "_\r\n");
  CHECK(one.command({"CLIENT", "GETNAME"}) == "$2\r\nme\r\n");
  CHECK(one.command({"HELLO", "4"}) == "-NOPROTO unsupported protocol version\r\n");
  CHECK(one.command({"RESET"}) == "+RESET\r\n");
  CHECK(one.command({"GET", "none"}) == "$-1\r\n");
}

TEST_CASE("resp session: databases do not see each other") {
  server_bench bench;
  auto one = writer_of(bench);
  CHECK(one.command({"SET", "k", "0"}) == "+OK\r\n");
  CHECK(one.command({"SELECT", "15"}) == "+OK\r\n");
  CHECK(one.command({"GET", "k"}) == "$-1\r\n");
  CHECK(one.command({"SELECT", "16"}) == "-ERR DB index is out of range\r\n");
  CHECK(one.command({"SELECT", "0"}) == "+OK\r\n");
  CHECK(one.command({"GET", "k"}) == "$1\r\n0\r\n");
}

TEST_CASE("resp session: without credentials nothing but AUTH, HELLO and QUIT") {
  server_bench bench;
  client one(bench, nullptr);
  CHECK(one.command({"GET", "k"}) == "-NOAUTH Authentication required.\r\n");
  CHECK(one.command({"PING"}) == "-NOAUTH Authentication required.\r\n");
  CHECK(one.command({"HELLO", "3"}).starts_with("-NOAUTH HELLO must be called"));
  CHECK(one.command({"AUTH", "writer", "wrong"}).starts_with("-WRONGPASS "));
  CHECK(one.command({"GET", "k"}) == "-NOAUTH Authentication required.\r\n");
  CHECK(one.command({"AUTH", "writer", "w"}) == "+OK\r\n");
  CHECK(bench.counters.credentials_wrong == 1);
  CHECK(bench.counters.credentials_right == 1);
  CHECK(one.command({"SET", "k", "v"}) == "+OK\r\n");
  client three(bench, nullptr);
  CHECK(three.command({"HELLO", "3", "AUTH", "reader", "r"}).starts_with("%7"));
  CHECK(three.command({"GET", "k"}) == "$1\r\nv\r\n");
}

TEST_CASE("resp session: a reader writes nothing, a writer lists, flushes and configures nothing") {
  server_bench bench;
  auto writer = writer_of(bench);
  REQUIRE(writer.command({"SET", "k", "v"}) == "+OK\r\n");
  client reader(bench, server_bench::make_identity(user_role::reader));
  const std::string give_back(storage::text_of(storage::remote_script::give_back));
  const std::vector<std::vector<std::string>> writes = {{"SET", "k", "x"},
                                                        {"SET", "k", "x", "GET"},
                                                        {"SETNX", "k", "x"},
                                                        {"SETEX", "k", "9", "x"},
                                                        {"PSETEX", "k", "9", "x"},
                                                        {"GETSET", "k", "x"},
                                                        {"GETDEL", "k"},
                                                        {"GETEX", "k", "PXAT", "1"},
                                                        {"MSET", "k", "x"},
                                                        {"DEL", "k"},
                                                        {"UNLINK", "k"},
                                                        {"EXPIRE", "k", "0"},
                                                        {"PEXPIRE", "k", "0"},
                                                        {"EXPIREAT", "k", "1"},
                                                        {"PEXPIREAT", "k", "1"},
                                                        {"PERSIST", "k"},
                                                        {"HEARTH.ACQUIRE", "new"},
                                                        {"HEARTH.FULFIL", "k", "x"},
                                                        {"HEARTH.ABANDON", "k"},
                                                        {"HSET", "k", "f", "x"},
                                                        {"HDEL", "k", "f"},
                                                        {"XADD", "k", "*", "f", "x"},
                                                        {"EVAL", give_back, "1", "k", "v"},
                                                        {"EVALSHA", "0", "1", "k", "v"}};
  const std::vector<std::vector<std::string>> manages = {{"KEYS", "*"},
                                                         {"SCAN", "0"},
                                                         {"DBSIZE"},
                                                         {"FLUSHDB"},
                                                         {"FLUSHALL"},
                                                         {"CONFIG", "GET", "*"},
                                                         {"CONFIG", "SET", "requirepass", "x"}};
  const auto refused = [](client& by, const std::vector<std::string>& words) {
    std::string text = "*" + std::to_string(words.size()) + "\r\n";
    for (const auto& word : words)
      text += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
    CAPTURE(words[0]);
    CHECK(by.ask(text).starts_with("-NOPERM this user has no permissions to run the '"));
  };
  for (const auto& words : writes)
    refused(reader, words);
  for (const auto& words : manages) {
    refused(reader, words);
    refused(writer, words);
  }
  CHECK(reader.command({"GET", "k"}) == "$1\r\nv\r\n");
}

TEST_CASE("resp session: a reader's writes can be dropped silently") {
  server_bench bench;
  auto writer = writer_of(bench);
  REQUIRE(writer.command({"SET", "k", "v"}) == "+OK\r\n");
  auto who = *server_bench::make_identity(user_role::reader);
  who.refused = server::refused_writes::ignore;
  client reader(bench, std::make_shared<const server::identity>(who));
  CHECK(reader.command({"SET", "k", "x"}) == "+OK\r\n");
  CHECK(reader.command({"SET", "k", "x", "XX"}) == "+OK\r\n");
  CHECK(reader.command({"SETEX", "k", "9", "x"}) == "+OK\r\n");
  CHECK(reader.command({"MSET", "k", "x"}) == "+OK\r\n");
  CHECK(reader.command({"SETNX", "new", "x"}) == ":1\r\n");
  CHECK(reader.command({"GETSET", "k", "x"}) == "$1\r\nv\r\n");
  CHECK(reader.command({"GETDEL", "k"}) == "$1\r\nv\r\n");
  CHECK(reader.command({"GETEX", "k", "PXAT", "1"}) == "$1\r\nv\r\n");
  CHECK(reader.command({"DEL", "k"}) == ":0\r\n");
  CHECK(reader.command({"EXPIRE", "k", "1"}) == ":1\r\n");
  CHECK(reader.command({"GET", "k"}) == "$1\r\nv\r\n");
  CHECK(reader.command({"TTL", "k"}) == ":-1\r\n");
  CHECK(reader.command({"GET", "new"}) == "$-1\r\n");
  CHECK(reader.command({"KEYS", "*"}).starts_with("-NOPERM"));
}

TEST_CASE("resp session: a writer scans what begins with a text that it knows, a reader nothing") {
  server_bench bench;
  auto writer = writer_of(bench);
  CHECK(writer.command({"MSET", "hearth:c:0:a", "1", "other", "2", "hearth-c", "3"}) == "+OK\r\n");
  const auto scan = [](client& by, std::string_view pattern) {
    return by.command({"SCAN", "0", "MATCH", pattern, "COUNT", "10000"});
  };
  CHECK(scan(writer, "hearth:c:0:*").ends_with("*1\r\n$12\r\nhearth:c:0:a\r\n"));
  CHECK(scan(writer, "hearth\\-c").ends_with("*1\r\n$8\r\nhearth-c\r\n"));
  for (const auto* const pattern : {"*", "hearth:*", "hearth?c*", "hearth\\-*", "[h]earth:c:0:*"})
    CHECK(scan(writer, pattern).starts_with("-NOPERM "));
  auto who = *server_bench::make_identity(user_role::reader);
  for (const auto refused : {server::refused_writes::error, server::refused_writes::ignore}) {
    who.refused = refused;
    client reader(bench, std::make_shared<const server::identity>(who));
    CHECK(scan(reader, "hearth:c:0:*").starts_with("-NOPERM "));
  }
  who.role = user_role::writer;
  who.name_space = "pr-7";
  client pull(bench, std::make_shared<const server::identity>(who));
  CHECK(scan(pull, "hearth:c:0:*").ends_with("*0\r\n"));
}

TEST_CASE("resp session: every command that writes is refused or ignored, by the table") {
  for (const auto table : server::command_tables())
    for (const auto& command : table) {
      CAPTURE(command.name);
      const bool is_write = command.role == user_role::writer;
      CHECK((command.when_ignored != nullptr) == is_write);
    }
}

TEST_CASE("resp session: ignored writes of hashes, streams and scripts have no effect") {
  server_bench bench;
  auto writer = writer_of(bench);
  REQUIRE(writer.command({"HSET", "h", "f", "v"}) == ":1\r\n");
  REQUIRE(writer.command({"SET", "lease", "token", "PX", "60000"}) == "+OK\r\n");
  auto who = *server_bench::make_identity(user_role::reader);
  who.refused = server::refused_writes::ignore;
  client reader(bench, std::make_shared<const server::identity>(who));
  CHECK(reader.command({"HSET", "h", "f", "x", "g", "y"}) == ":2\r\n");
  CHECK(reader.command({"HDEL", "h", "f"}) == ":0\r\n");
  CHECK(reader.command({"XADD", "s", "*", "f", "v"}).starts_with("$"));
  const auto give_back = storage::text_of(storage::remote_script::give_back);
  CHECK(reader.command({"EVAL", give_back, "1", "lease", "token"}) == ":1\r\n");
  CHECK(reader.command({"HGETALL", "h"}) == "*2\r\n$1\r\nf\r\n$1\r\nv\r\n");
  CHECK(reader.command({"XLEN", "s"}) == ":0\r\n");
  CHECK(reader.command({"GET", "lease"}) == "$5\r\ntoken\r\n");
}

TEST_CASE("resp session: a reader whose writes are dropped holds no lease and fulfils none") {
  server_bench bench;
  auto writer = writer_of(bench);
  auto who = *server_bench::make_identity(user_role::reader);
  who.refused = server::refused_writes::ignore;
  client reader(bench, std::make_shared<const server::identity>(who));
  CHECK(reader.command({"HEARTH.ACQUIRE", "k"}) == "$-1\r\n");
  CHECK(bench.counters.holders_now == 0);
  CHECK(reader.command({"HEARTH.FULFIL", "k", "evil"}) == ":1\r\n");
  CHECK(reader.command({"HEARTH.ABANDON", "k"}) == ":0\r\n");
  CHECK(writer.command({"GET", "k"}) == "$-1\r\n");
  // A reader does not wait for a holder either.
  CHECK(writer.command({"HEARTH.ACQUIRE", "k"}) == "$-1\r\n");
  CHECK(bench.counters.holders_now == 1);
  CHECK(reader.command({"HEARTH.ACQUIRE", "k"}) == "$-1\r\n");
  CHECK(writer.command({"HEARTH.FULFIL", "k", "v"}) == ":1\r\n");
  CHECK(reader.command({"HEARTH.ACQUIRE", "k"}) == "$1\r\nv\r\n");
}

TEST_CASE("resp session: another namespace reads the trusted one and changes nothing of it") {
  server_bench bench;
  auto trusted = writer_of(bench);
  REQUIRE(trusted.command({"MSET", "a", "1", "b", "2"}) == "+OK\r\n");
  auto who = *server_bench::make_identity(user_role::admin);
  who.name_space = "pr-7";
  client pull(bench, std::make_shared<const server::identity>(who));
  CHECK(pull.command({"GET", "a"}) == "$1\r\n1\r\n");
  CHECK(pull.command({"SET", "a", "evil"}) == "+OK\r\n");
  CHECK(pull.command({"GET", "a"}) == "$4\r\nevil\r\n");
  CHECK(pull.command({"DEL", "b"}) == ":0\r\n");
  CHECK(pull.command({"GETDEL", "b"}) == "$1\r\n2\r\n");
  CHECK(pull.command({"GETEX", "b", "PXAT", "1"}) == "$1\r\n2\r\n");
  CHECK(pull.command({"EXPIRE", "b", "0"}) == ":0\r\n");
  CHECK(pull.command({"SET", "b", "evil", "NX"}) == "$-1\r\n");
  CHECK(pull.command({"KEYS", "*"}) == "*1\r\n$1\r\na\r\n");
  // Hashes: both parts are read, the own one is changed.
  REQUIRE(trusted.command({"HSET", "h", "f", "1"}) == ":1\r\n");
  CHECK(pull.command({"HSET", "h", "g", "2"}) == ":1\r\n");
  CHECK(pull.command({"HLEN", "h"}) == ":2\r\n");
  CHECK(pull.command({"HGET", "h", "f"}) == "$1\r\n1\r\n");
  CHECK(pull.command({"HDEL", "h", "f"}) == ":0\r\n");
  CHECK(pull.command({"HSET", "h", "f", "evil"}) == ":1\r\n");
  CHECK(trusted.command({"HGETALL", "h"}) == "*2\r\n$1\r\nf\r\n$1\r\n1\r\n");
  // A later member of the trusted hash is seen beside the own ones.
  CHECK(trusted.command({"HSET", "h", "late", "3"}) == ":1\r\n");
  CHECK(pull.command({"HGET", "h", "late"}) == "$1\r\n3\r\n");
  CHECK(pull.command({"DEL", "h"}) == ":1\r\n");
  CHECK(pull.command({"HGET", "h", "f"}) == "$1\r\n1\r\n");
  CHECK(pull.command({"DEL", "h"}) == ":0\r\n");
  // Scripts: a lease and a mark of the trusted namespace stay.
  const auto script = [](storage::remote_script one) { return storage::text_of(one); };
  using storage::remote_script;
  REQUIRE(trusted.command({"SET", "lease", "token", "PX", "60000"}) == "+OK\r\n");
  CHECK(pull.command({"EVAL", script(remote_script::renew_lease), "1", "lease", "token", "1"}) ==
        ":0\r\n");
  CHECK(pull.command({"EVAL", script(remote_script::give_back), "1", "lease", "token"}) ==
        ":0\r\n");
  CHECK(pull.command({"EVAL", script(remote_script::replace_mark), "1", "b", "2", "evil", "0"}) ==
        ":1\r\n");
  CHECK(pull.command({"EVAL", script(remote_script::add_fields), "1", "h", "60000", "f", "evil"}) ==
        ":1\r\n");
  CHECK(trusted.command({"GET", "lease"}) == "$5\r\ntoken\r\n");
  CHECK(trusted.command({"HLEN", "h"}) == ":2\r\n");
  CHECK(trusted.command({"HGET", "h", "f"}) == "$1\r\n1\r\n");
  CHECK(trusted.command({"TTL", "h"}) == ":-1\r\n");
  // Streams: the trusted one is heard, and hears nothing.
  REQUIRE(trusted.command({"XADD", "log", "*", "n", "1"}).starts_with("$"));
  REQUIRE(pull.command({"XADD", "log", "MAXLEN", "0", "*", "n", "2"}).starts_with("$"));
  REQUIRE(pull.command({"XADD", "log", "*", "n", "3"}).starts_with("$"));
  CHECK(trusted.command({"XLEN", "log"}) == ":1\r\n");
  CHECK(trusted.command({"XREVRANGE", "log", "+", "-"}).ends_with("$1\r\nn\r\n$1\r\n1\r\n"));
  CHECK(pull.command({"DEL", "log"}) == ":1\r\n");
  CHECK(pull.command({"XLEN", "log"}) == ":1\r\n");
  CHECK(pull.command({"DEL", "log"}) == ":0\r\n");
  CHECK(pull.command({"FLUSHALL"}) == "+OK\r\n");
  CHECK(trusted.command({"XLEN", "log"}) == ":1\r\n");
  CHECK(trusted.command({"HLEN", "h"}) == ":2\r\n");
  CHECK(pull.command({"GET", "a"}) == "$1\r\n1\r\n");
  CHECK(trusted.command({"MGET", "a", "b"}) == "*2\r\n$1\r\n1\r\n$1\r\n2\r\n");
}

TEST_CASE("resp session: no command stores an entry of HTTP, whose bytes were checked") {
  server_bench bench;
  auto one = writer_of(bench);
  const std::string key = "http:cas:" + std::string(64, 'a');
  const std::string refused =
      "-ERR keys that begin as this one are those of HTTP clients; store the value over HTTP\r\n";
  const auto check_refused = [&] {
    CHECK(one.command({"SET", key, "evil"}) == refused);
    CHECK(one.command({"SET", key, "evil", "GET"}) == refused);
    CHECK(one.command({"SETEX", key, "9", "evil"}) == refused);
    CHECK(one.command({"GETSET", key, "evil"}) == refused);
    CHECK(one.command({"MSET", "other", "1", key, "evil"}) == refused);
  };
  check_refused();
  CHECK(one.command({"SETNX", key, "evil"}) == refused);
  CHECK(one.command({"HEARTH.ACQUIRE", key}) == "$-1\r\n");
  CHECK(one.command({"HEARTH.FULFIL", key, "evil"}) == refused);
  CHECK(one.command({"GET", key}) == "$-1\r\n");
  CHECK(bench.trusted().put(key, server::make_value("right")).get());
  check_refused();
  CHECK(one.command({"EXPIRE", key, "9"}) == refused);
  CHECK(one.command({"GET", key}) == "$5\r\nright\r\n");
  CHECK(one.command({"SET", "http://cache.example/", "v"}) == "+OK\r\n");
  CHECK(one.command({"DEL", key}) == ":1\r\n");
}

TEST_CASE("resp session: an admin lists, counts and flushes") {
  server_bench bench;
  client admin(bench, server_bench::make_identity(user_role::admin));
  const std::string longest(65000, 'k');
  CHECK(admin.command({"DBSIZE"}) == ":0\r\n");
  REQUIRE(admin.command({"MSET", "one", "1", "two", "2"}) == "+OK\r\n");
  REQUIRE(admin.command({"SET", longest, "3"}) == "+OK\r\n");
  REQUIRE(admin.command({"SET", "gone", "4", "PXAT", "1"}) == "+OK\r\n");
  CHECK(admin.command({"DBSIZE"}) == ":3\r\n");
  CHECK(admin.command({"KEYS", "t[a-z]o"}) == "*1\r\n$3\r\ntwo\r\n");
  CHECK(admin.command({"KEYS", "k*"}) == "*1\r\n$65000\r\n" + longest + "\r\n");
  CHECK(admin.command({"SCAN", "0", "MATCH", "on?", "COUNT", "5"}) ==
        "*2\r\n$1\r\n0\r\n*1\r\n$3\r\none\r\n");
  CHECK(admin.command({"FLUSHDB"}) == "+OK\r\n");
  CHECK(admin.command({"DBSIZE"}) == ":0\r\n");
  CHECK(admin.command({"CONFIG", "GET", "sa*"}) == "*2\r\n$4\r\nsave\r\n$0\r\n\r\n");
  CHECK(admin.command({"CONFIG", "SET", "requirepass", "secret"}) == "+OK\r\n");
  CHECK(bench.required_password == "secret");
  auto who = *server_bench::make_identity(user_role::admin);
  who.name_space = "pr-7";
  client other(bench, std::make_shared<const server::identity>(who));
  CHECK(other.command({"CONFIG", "SET", "requirepass", ""}).starts_with("-NOPERM"));
  CHECK(bench.required_password == "secret");
  CHECK(admin.command({"CONFIG", "SET", "save", ""}).starts_with("-ERR CONFIG SET knows"));
}

TEST_CASE("resp session: its leases end with its output") {
  server_bench bench;
  auto one = writer_of(bench, true);
  CHECK(one.command({"GET", "k"}) == "$-1\r\n");
  CHECK(bench.counters.holders_now == 1);
  CHECK(one.command({"QUIT"}) == "+OK\r\n");
  one.session->output_ended();
  CHECK(bench.counters.holders_now == 0);
  CHECK(bench.counters.holders_ended == 1);
}

TEST_CASE("resp session: FLUSHALL empties all databases, FLUSHDB its own") {
  server_bench bench;
  client admin(bench, server_bench::make_identity(user_role::admin));
  const auto fill = [&] {
    for (const std::string number : {"0", "3", "15"}) {
      REQUIRE(admin.command({"SELECT", number}) == "+OK\r\n");
      REQUIRE(admin.command({"SET", "k", "v"}) == "+OK\r\n");
      REQUIRE(admin.command({"XADD", "s", "*", "f", "1"}).starts_with("$"));
    }
    REQUIRE(admin.command({"SELECT", "3"}) == "+OK\r\n");
  };
  const auto left_in = [&](const std::string& number) {
    REQUIRE(admin.command({"SELECT", number}) == "+OK\r\n");
    return admin.command({"EXISTS", "k", "s"});
  };
  fill();
  CHECK(admin.command({"FLUSHDB"}) == "+OK\r\n");
  CHECK(left_in("0") == ":2\r\n");
  CHECK(left_in("3") == ":0\r\n");
  CHECK(left_in("15") == ":2\r\n");
  fill();
  CHECK(admin.ask(client::encoded({"FLUSHALL"}) + client::encoded({"EXISTS", "k"})) ==
        "+OK\r\n:0\r\n");
  for (const std::string number : {"0", "3", "15"})
    CHECK(left_in(number) == ":0\r\n");
}

TEST_CASE("resp session: what the store has evicted and memory still has is listed and flushed") {
  const temporary_directory directory;
  server_bench bench{.how = of_host(directory.path(), "")};
  client admin(bench, server_bench::make_identity(user_role::admin));
  constexpr int many = 40;
  for (int i = 0; i < many; ++i)
    REQUIRE(admin.command({"SET", "k" + std::to_string(i), std::string(1000, 'v')}) == "+OK\r\n");
  auto& store = *internals::core(bench.rt).store();
  REQUIRE(store.evict_to(10'000));
  const auto stored = store.stats().entries;
  REQUIRE(stored < many);
  REQUIRE(admin.command({"EXISTS", "k0"}) == ":1\r\n");
  CHECK(admin.command({"DBSIZE"}) == ":40\r\n");
  std::multiset<std::string> seen;
  std::string cursor = "0";
  do {
    const auto reply = admin.command({"SCAN", cursor, "COUNT", "7"});
    const auto at = reply.find("\r\n", 4) + 2;
    cursor = reply.substr(at, reply.find("\r\n", at) - at);
    for (auto key = reply.find("\r\nk"); key != reply.npos; key = reply.find("\r\nk", key + 1))
      seen.insert(reply.substr(key + 2, reply.find("\r\n", key + 2) - key - 2));
  } while (cursor != "0");
  CHECK(seen.size() == many);
  CHECK(std::set(seen.begin(), seen.end()).size() == many);
  CHECK(admin.command({"FLUSHDB"}) == "+OK\r\n");
  for (int i = 0; i < many; ++i)
    CHECK(admin.command({"EXISTS", "k" + std::to_string(i)}) == ":0\r\n");
}

TEST_CASE("resp session: a scan goes page by page, and to its end") {
  server_bench bench;
  client admin(bench, server_bench::make_identity(user_role::admin));
  constexpr int many = 100;
  for (int i = 0; i < many; ++i)
    REQUIRE(admin.command({"SET", "key:" + std::to_string(i), "v"}) == "+OK\r\n");
  REQUIRE(admin.command({"SET", "gone", "v", "PXAT", "1"}) == "+OK\r\n");
  const auto lines = [](const std::string& reply) {
    std::vector<std::string> all;
    for (std::size_t begin = 0; begin < reply.size();) {
      const auto end = reply.find("\r\n", begin);
      all.push_back(reply.substr(begin, end - begin));
      begin = end + 2;
    }
    return all;
  };
  for (const std::string count : {"1", "10", "30", "1000"}) {
    std::set<std::string> seen;
    std::string cursor = "0";
    int pages = 0;
    do {
      const auto page = lines(admin.command({"SCAN", cursor, "COUNT", count}));
      REQUIRE(page.size() >= 4);
      CHECK(page[0] == "*2");
      cursor = page[2];
      for (std::size_t i = 5; i < page.size(); i += 2)
        seen.insert(page[i]);
      ++pages;
      REQUIRE(pages <= 2 * many);
    } while (cursor != "0");
    CHECK(seen.size() == many);
    CHECK(seen.contains("key:0"));
    CHECK((pages > 1) == (count != "1000"));
  }
  CHECK(admin.command({"SCAN", "0", "MATCH", "key:17", "COUNT", "1000"}) ==
        "*2\r\n$1\r\n0\r\n*1\r\n$6\r\nkey:17\r\n");
  CHECK(admin.command({"SCAN", "0", "TYPE", "zset"}) == "*2\r\n$1\r\n0\r\n*0\r\n");
  CHECK(admin.command({"SCAN", "0", "TYPE", "String", "MATCH", "none", "COUNT", "1000"}) ==
        "*2\r\n$1\r\n0\r\n*0\r\n");
  for (const std::string cursor : {"x", "-1", "17", "1.5", ""})
    CHECK(admin.command({"SCAN", cursor}) == "-ERR invalid cursor\r\n");
  CHECK(admin.command({"SCAN", "0", "COUNT", "0"}) == "-ERR syntax error\r\n");
  CHECK(admin.command({"SCAN", "0", "COUNT", "x"}) ==
        "-ERR value is not an integer or out of range\r\n");
  CHECK(admin.command({"SCAN", "0", "COUNT"}) == "-ERR syntax error\r\n");
  CHECK(admin.command({"SCAN", "0", "HOW", "far"}) == "-ERR syntax error\r\n");
}

TEST_CASE("resp session: wrong words get Redis's errors, and the connection goes on") {
  server_bench bench;
  auto one = writer_of(bench);
  CHECK(one.command({"GET"}) == "-ERR wrong number of arguments for 'get' command\r\n");
  CHECK(one.command({"GET", "a", "b"}) == "-ERR wrong number of arguments for 'get' command\r\n");
  CHECK(one.command({"MSET", "a"}) == "-ERR wrong number of arguments for 'mset' command\r\n");
  CHECK(one.command({"MSET", "a", "1", "b"}) ==
        "-ERR wrong number of arguments for 'mset' command\r\n");
  CHECK(one.command({"EXPIRE", "k", "x"}) == "-ERR value is not an integer or out of range\r\n");
  CHECK(one.command({"FLY", "a\r\nb"}) ==
        "-ERR unknown command 'FLY', with args beginning with: 'a  b' \r\n");
  CHECK(one.command({"PING", "still here"}) == "$10\r\nstill here\r\n");
}

TEST_CASE("resp session: bytes that are no commands end the connection with an error") {
  server_bench bench;
  for (const std::string_view bytes :
       {"*1\r\n$-7\r\n", "*99999999999\r\n", "*1\r\n:5\r\n", "*1\r\n$99999999999\r\n"}) {
    auto one = writer_of(bench);
    CAPTURE(bytes);
    CHECK(one.ask(bytes).starts_with("-ERR Protocol error: "));
    CHECK(one.host->is_closed);
  }
  CHECK(bench.counters.protocol_errors == 4);
}

TEST_CASE("resp session: the first miss holds, the next waits for its value") {
  server_bench bench;
  auto holder = writer_of(bench, true);
  auto waiter = writer_of(bench, true);
  CHECK(holder.command({"GET", "k"}) == "$-1\r\n");
  feed(*waiter.session, client::encoded({"GET", "k"}));
  CHECK_FALSE(waiter.session->is_idle());
  CHECK(holder.command({"SET", "k", "made"}) == "+OK\r\n");
  CHECK(waiter.ask("") == "$4\r\nmade\r\n");
  CHECK(bench.counters.held_hits == 1);
}

TEST_CASE("resp session: a holder that ends, or abandons, makes the next the holder") {
  server_bench bench;
  auto first =
      std::make_unique<client>(bench, server_bench::make_identity(user_role::writer, true));
  auto second = writer_of(bench, true);
  CHECK(first->command({"GET", "k"}) == "$-1\r\n");
  feed(*second.session, client::encoded({"GET", "k"}));
  CHECK_FALSE(second.session->is_idle());
  first.reset();
  CHECK(second.ask("") == "$-1\r\n");
  auto third = writer_of(bench, true);
  feed(*third.session, client::encoded({"GET", "k"}));
  CHECK(second.command({"HEARTH.ABANDON", "k"}) == ":1\r\n");
  CHECK(second.command({"HEARTH.ABANDON", "k"}) == ":0\r\n");
  CHECK(third.ask("") == "$-1\r\n");
}

TEST_CASE("resp session: nothing waits where more commands follow, or with MGET") {
  server_bench bench;
  auto holder = writer_of(bench, true);
  auto other = writer_of(bench, true);
  CHECK(holder.command({"GET", "k"}) == "$-1\r\n");
  CHECK(other.command({"MGET", "k"}) == "*1\r\n$-1\r\n");
  CHECK(other.command({"EXISTS", "k"}) == ":0\r\n");
  CHECK(other.ask(client::encoded({"GET", "k"}) + client::encoded({"PING"})) == "$-1\r\n+PONG\r\n");
}

TEST_CASE("resp session: clients that know leases need no setting") {
  server_bench bench;
  auto one = writer_of(bench);
  auto two = writer_of(bench);
  CHECK(one.command({"HEARTH.ACQUIRE", "k"}) == "$-1\r\n");
  feed(*two.session, client::encoded({"HEARTH.ACQUIRE", "k"}));
  CHECK_FALSE(two.session->is_idle());
  CHECK(two.host->take_output().empty());
  CHECK(one.command({"HEARTH.FULFIL", "k", "v"}) == ":1\r\n");
  CHECK(two.ask("") == "$1\r\nv\r\n");
  CHECK(one.command({"HEARTH.FULFIL", "k", "again"}) == ":0\r\n");
  CHECK(one.command({"GET", "k"}) == "$1\r\nv\r\n");
}

TEST_CASE("resp session: output above the limit waits until it is sent") {
  server_bench bench;
  bench.settings.limits.output_bytes = 1000;
  auto one = writer_of(bench);
  REQUIRE(one.command({"SET", "k", std::string(600, 'v')}) == "+OK\r\n");
  std::string all;
  for (int i = 0; i < 10; ++i)
    all += client::encoded({"GET", "k"});
  feed(*one.session, all);
  CHECK_FALSE(one.session->is_ready());
  std::size_t replies = 0;
  for (int round = 0; round < 10 && replies < 10; ++round) {
    const auto out = one.host->take_output();
    CHECK(out.size() < 2000);
    replies += out.size() / 600;
    one.session->sent();
  }
  CHECK(replies == 10);
  CHECK(one.session->is_ready());
}

TEST_CASE("resp session: a drain ends an idle connection, and a busy one behind its reply") {
  server_bench bench;
  auto idle = writer_of(bench);
  auto busy = writer_of(bench);
  feed(*busy.session, client::encoded({"SET", "k", "v"}));
  bench.context.is_draining = true;
  idle.session->drain();
  busy.session->drain();
  CHECK(idle.host->is_closed);
  CHECK(busy.ask("") == "+OK\r\n");
  CHECK(busy.host->is_closed);
}

TEST_CASE("resp arguments: patterns, ranges and expiries") {
  using server::matches_pattern;
  CHECK(matches_pattern("", "*"));
  CHECK(matches_pattern("abc", "a*c"));
  CHECK(matches_pattern("a*c", "a\\*c"));
  CHECK_FALSE(matches_pattern("abc", "a\\*c"));
  CHECK(matches_pattern("b", "[^a]"));
  CHECK_FALSE(matches_pattern("a", "[^a]"));
  CHECK(matches_pattern("x-y", "x[-]y"));
  // As Redis: `]` ends the range, so that the brackets go on.
  CHECK_FALSE(matches_pattern("hallo", "h[a-]llo"));
  CHECK(matches_pattern("ha", "h[a-]llo"));
  CHECK(matches_pattern("x_y", "x[a-]]y"));
  // An escaped character begins no range.
  CHECK(matches_pattern("x-y", "x[\\a-z]y"));
  CHECK_FALSE(matches_pattern("xby", "x[\\a-z]y"));
  CHECK_FALSE(matches_pattern("", "?"));
  CHECK_FALSE(matches_pattern("ab", "[a"));
  CHECK(matches_pattern("a", "[a"));
  CHECK_FALSE(matches_pattern(std::string(5000, 'a'), std::string(2000, '*') + "b"));
  using range = std::pair<std::size_t, std::size_t>;
  CHECK(server::bytes_between(5, 0, -1) == range{0, 5});
  CHECK(server::bytes_between(5, -3, 100) == range{2, 3});
  CHECK(server::bytes_between(5, 3, 1) == range{0, 0});
  CHECK(server::bytes_between(0, 0, -1) == range{0, 0});
  CHECK(server::bytes_between(5, -1, -3) == range{0, 0});
  CHECK(server::bytes_between(5, INT64_MIN, INT64_MAX) == range{0, 5});
  using unit = server::expiry_unit;
  CHECK(server::parse_expiry("5", unit::seconds, 1000) == 6000);
  CHECK(server::parse_expiry("5", unit::unix_milliseconds, 1000) == 5);
  CHECK_FALSE(server::parse_expiry("9223372036854775807", unit::seconds, 0));
  CHECK_FALSE(server::parse_expiry("9223372036854775807", unit::milliseconds, 1));
  CHECK_FALSE(server::parse_expiry("1x", unit::seconds, 0));
}
