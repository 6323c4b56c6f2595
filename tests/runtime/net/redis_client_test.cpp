// Commands to a real redis-server and the replies.
#include "tests/support/asker.hpp"
#include "tests/support/local_redis.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>

namespace redis_client_test {

using namespace hearth;
using namespace hearth::net;
using namespace hearth::test;
using storage::resp_value;

namespace {

// Hearth's threads, by their names: a sanitizer may run threads of its own.
std::size_t our_threads() {
  std::size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    count += name.starts_with("hearth-");
  }
  return count;
}

} // namespace

TEST_CASE("redis: commands are answered over a Unix socket and over TCP, by name and by address") {
  const local_redis redis({.tcp = true});
  const auto port = std::to_string(redis.port());
  for (const auto& url : {redis.url(), "redis://127.0.0.1:" + port, "redis://localhost:" + port}) {
    CAPTURE(url);
    const auto server = connected(url);
    CHECK(ask(*server, {"SET", "k", "v"}).value.text == "OK");
    const auto got = ask(*server, {"GET", "k"});
    CHECK(is_ok(got));
    CHECK(got.value.type == resp_value::kind::bytes);
    CHECK(got.value.text == "v");
    CHECK(ask(*server, {"GET", "none"}).value.is_null());
    CHECK(ask(*server, {"DEL", "k"}).value.integer == 1);
  }
}

TEST_CASE("redis: answers come in order, thousands of commands pipelined on both lanes") {
  const local_redis redis;
  const auto server = connected(redis.url());
  constexpr int count = 5000;
  std::vector<std::future<remote_reply>> writes;
  for (int i = 0; i < count; ++i)
    writes.push_back(ask_later(*server, {"SET", "k" + std::to_string(i), std::to_string(i)},
                               patient, lane::writes));
  for (auto& one : writes)
    REQUIRE(is_ok(answer_of(std::move(one))));
  std::vector<std::future<remote_reply>> reads;
  for (int i = 0; i < count; ++i)
    reads.push_back(ask_later(*server, {"GET", "k" + std::to_string(i)}));
  for (int i = 0; i < count; ++i)
    REQUIRE(answer_of(std::move(reads[static_cast<std::size_t>(i)])).value.text ==
            std::to_string(i));
  // One connection for each lane; this request uses one of them.
  const auto clients = ask(*server, {"CLIENT", "LIST"}).value.text;
  CHECK(std::count(clients.begin(), clients.end(), '\n') == 2);
  CHECK(clients.find("name=hearth") != std::string::npos);
}

TEST_CASE("redis: large values of any bytes travel whole") {
  const local_redis redis;
  const auto server = connected(redis.url());
  for (const std::size_t size : {0u, 1u, 8191u, 8192u, 65536u, 1u << 20, 20u << 20}) {
    CAPTURE(size);
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i)
      bytes[i] = static_cast<char>(i * 2654435761u >> 13);
    REQUIRE(is_ok(ask(*server, {"SET", "k", bytes})));
    CHECK(ask(*server, {"GET", "k"}).value.text == bytes);
  }
}

TEST_CASE("redis: a hash of 65,536 fields, the largest set, is read whole") {
  const local_redis redis;
  const auto server = connected(redis.url());
  CHECK(redis.eval("for i = 1, 65536 do redis.call('HSET', 'h', 'field ' .. i, i) end "
                   "return redis.call('HLEN', 'h')") == 65536);
  CHECK(ask(*server, {"HGETALL", "h"}).value.items.size() == 2 * 65536);
}

TEST_CASE("redis: a reply above the limit is garbage, and the next one is not") {
  const local_redis redis;
  auto endpoint = *parse_remote_url(redis.url());
  endpoint.max_reply_bytes = 1000;
  const auto server = *connect_redis(endpoint);
  REQUIRE(is_ok(ask(*server, {"SET", "large", std::string(1001, 'x')})));
  REQUIRE(is_ok(ask(*server, {"SET", "small", std::string(1000, 'x')})));
  CHECK(ask(*server, {"GET", "large"}).failure == remote_failure::garbage);
  CHECK(ask(*server, {"GET", "small"}).value.text.size() == 1000);
}

TEST_CASE("redis: user, password and database are used, and wrong ones denied") {
  const local_redis redis({.password = "s3cret"});
  const auto at = [&](const std::string& login, const std::string& more = "") {
    return connected("redis+unix://" + login + redis.socket().string() + more);
  };
  CHECK(is_ok(ask(*at("s3cret@"), {"SET", "where", "0"})));
  CHECK(is_ok(ask(*at("default:s3cret@", "?db=3"), {"SET", "where", "3"})));
  CHECK(ask(*at("s3cret@"), {"GET", "where"}).value.text == "0");
  CHECK(ask(*at("s3cret@", "?db=3"), {"GET", "where"}).value.text == "3");
  const auto setup = at("s3cret@");
  CHECK(is_ok(ask(*setup, {"ACL", "SETUSER", "alice", "on", ">wonder", "~a:*", "+get"})));
  CHECK(is_ok(ask(*at("alice:wonder@"), {"GET", "a:1"})));
  for (const auto& login : {"", "wrong@", "alice:wrong@", "nobody:s3cret@"}) {
    CAPTURE(login);
    const auto denied = ask(*at(login), {"GET", "where"});
    CHECK(denied.failure == remote_failure::denied);
    CHECK(denied.problem.find("wrong@") == std::string::npos);
    CHECK(denied.problem.find("s3cret") == std::string::npos);
  }
  // The user is logged in but lacks the permission; the connection stays open.
  const auto alice = at("alice:wonder@");
  CHECK(ask(*alice, {"SET", "a:1", "x"}).failure == remote_failure::denied);
  CHECK(ask(*alice, {"GET", "b:1"}).failure == remote_failure::denied);
  CHECK(is_ok(ask(*alice, {"GET", "a:1"})));
  CHECK(ask(*at("s3cret@", "?db=99"), {"PING"}).failure == remote_failure::refused);
}

TEST_CASE("redis: an error that the server replies is a failure, with its text and value") {
  const local_redis redis;
  const auto server = connected(redis.url());
  REQUIRE(is_ok(ask(*server, {"LPUSH", "list", "1"})));
  const auto wrong = ask(*server, {"GET", "list"});
  CHECK(wrong.failure == remote_failure::garbage);
  CHECK(wrong.value.is_error());
  CHECK(wrong.value.text.starts_with("WRONGTYPE"));
  CHECK(wrong.problem.find(wrong.value.text) != std::string::npos);
  const auto unknown = ask(*server, {"NOSUCH", "a\r\nb"});
  CHECK(unknown.failure == remote_failure::refused);
  CHECK(unknown.problem.find('\n') == std::string::npos);
  CHECK(is_ok(ask(*server, {"PING"})));
}

TEST_CASE("redis: after a server restarts the next command connects to it again") {
  local_redis redis;
  const auto server = connected(redis.url());
  REQUIRE(is_ok(ask(*server, {"SET", "k", "v"})));
  redis.kill();
  CHECK(ask(*server, {"GET", "k"}).failure != remote_failure::none);
  CHECK(ask(*server, {"GET", "k"}).failure == remote_failure::unreachable);
  redis.start();
  CHECK(ask(*server, {"GET", "k"}).value.is_null());
}

TEST_CASE(
    "redis: a deadline that passes ends the connection and fails all commands waiting there") {
  local_redis redis;
  const auto server = connected(redis.url());
  REQUIRE(is_ok(ask(*server, {"SET", "k", "v"})));
  redis.freeze();
  auto patient_one = ask_later(*server, {"GET", "k"});
  const auto hasty = ask(*server, {"GET", "k"}, 20ms);
  CHECK(hasty.failure == remote_failure::timeout);
  CHECK(hasty.problem.find("no answer within 20 ms") != std::string::npos);
  CHECK(answer_of(std::move(patient_one)).failure == remote_failure::timeout);
  redis.thaw();
  CHECK(ask(*server, {"GET", "k"}).value.text == "v");
}

TEST_CASE("redis: a deadline of one lane does not affect the other") {
  local_redis redis;
  const auto server = connected(redis.url());
  REQUIRE(is_ok(ask(*server, {"PING"}, patient, lane::writes)));
  REQUIRE(is_ok(ask(*server, {"PING"})));
  redis.freeze();
  auto write = ask_later(*server, {"SET", "k", "v"}, patient, lane::writes);
  CHECK(ask(*server, {"GET", "k"}, 20ms).failure == remote_failure::timeout);
  redis.thaw();
  CHECK(is_ok(answer_of(std::move(write))));
}

TEST_CASE(
    "redis: replies that arrived while their thread was busy are read before any deadline passes") {
  const local_redis redis;
  const auto server = connected(redis.url());
  const std::string large(std::size_t{4} << 20, 'x'); // more than the socket buffers hold
  REQUIRE(is_ok(ask(*server, {"SET", "k", large})));
  constexpr auto deadline = 500ms;
  const auto late = std::chrono::steady_clock::now() + 3 * deadline;
  std::promise<remote_reply> second;
  server->send_all(lane::reads, {{"PING"}, {"GET", "k"}}, deadline,
                   [&](std::size_t which, remote_reply reply) {
                     if (which == 1) return second.set_value(std::move(reply));
                     while (std::chrono::steady_clock::now() < late) {
                     }
                   });
  const auto answer = answer_of(second.get_future());
  CHECK(answer.problem == "");
  CHECK(bool(answer.value.text == large)); // not printed: it is large
}

TEST_CASE("redis: commands beyond the limit are refused at once") {
  local_redis redis;
  auto endpoint = *parse_remote_url(redis.url());
  endpoint.max_waiting_bytes = 1000;
  const auto server = *connect_redis(endpoint);
  REQUIRE(is_ok(ask(*server, {"PING"})));
  redis.freeze();
  auto first = ask_later(*server, {"SET", "k", std::string(5000, 'x')}); // one may be larger
  CHECK(ask(*server, {"SET", "l", "x"}).failure == remote_failure::refused);
  redis.thaw();
  CHECK(is_ok(answer_of(std::move(first))));
  CHECK(is_ok(ask(*server, {"SET", "l", "x"})));
}

TEST_CASE("redis: close answers waiting and later commands, and leaves no thread") {
  local_redis redis({.tcp = true});
  const auto server = connected("redis://localhost:" + std::to_string(redis.port()));
  REQUIRE(is_ok(ask(*server, {"PING"})));
  CHECK(our_threads() >= 1);
  redis.freeze();
  std::vector<std::future<remote_reply>> waiting;
  for (int i = 0; i < 100; ++i)
    waiting.push_back(
        ask_later(*server, {"GET", "k"}, patient, i % 2 == 0 ? lane::reads : lane::writes));
  server->close();
  for (auto& one : waiting)
    CHECK(answer_of(std::move(one)).failure == remote_failure::closed);
  CHECK(ask(*server, {"GET", "k"}).failure == remote_failure::closed);
  server->close();
  // The kernel may list a thread for a moment after it was joined.
  const auto give_up = std::chrono::steady_clock::now() + patient;
  while (our_threads() != 0 && std::chrono::steady_clock::now() < give_up)
    std::this_thread::yield();
  CHECK(our_threads() == 0);
}

TEST_CASE("redis: commands sent together are answered one by one, by their indices") {
  const local_redis redis;
  const auto server = connected(redis.url());
  constexpr std::size_t count = 500;
  REQUIRE(is_ok(ask(*server, {"SET", "k7", "seven"})));
  REQUIRE(is_ok(ask(*server, {"LPUSH", "k8", "a list"})));
  const auto ask_for_all = [&] {
    std::vector<remote_client::command> commands;
    for (std::size_t i = 0; i < count; ++i)
      commands.push_back({"GET", "k" + std::to_string(i)});
    std::vector<std::vector<remote_reply>> replies(count);
    std::atomic<std::size_t> open = count;
    std::promise<void> done;
    server->send_all(lane::reads, std::move(commands), patient,
                     [&](std::size_t which, remote_reply reply) {
                       replies[which].push_back(std::move(reply));
                       if (--open == 0) done.set_value();
                     });
    REQUIRE(done.get_future().wait_for(120s) == std::future_status::ready);
    for (const auto& one : replies)
      REQUIRE(one.size() == 1);
    return replies;
  };
  const auto replies = ask_for_all();
  for (std::size_t i = 0; i < count; ++i)
    if (i != 7 && i != 8) REQUIRE(replies[i][0].value.is_null());
  CHECK(replies[7][0].value.text == "seven");
  CHECK(replies[8][0].failure == remote_failure::garbage);
  server->close();
  for (const auto& one : ask_for_all())
    REQUIRE(one[0].failure == remote_failure::closed);
}

TEST_CASE("redis: a server may be closed, used and dropped inside its own replies") {
  const local_redis redis;
  auto server = connected(redis.url());
  std::promise<void> done;
  server->send(lane::reads, {"PING"}, patient, [&](const remote_reply& first) {
    CHECK(is_ok(first));
    server->send(lane::reads, {"PING"}, patient, [&](const remote_reply& second) {
      CHECK(is_ok(second));
      server->close();
      server->send(lane::reads, {"PING"}, patient, [&](const remote_reply& third) {
        CHECK(third.failure == remote_failure::closed);
      });
      server.reset();
      done.set_value();
    });
  });
  REQUIRE(done.get_future().wait_for(120s) == std::future_status::ready);
}

TEST_CASE("redis: threads that send while another closes get one reply each") {
  const local_redis redis;
  for (int round = 0; round < 20; ++round) {
    const auto server = connected(redis.url());
    std::atomic<int> answered = 0;
    std::atomic<int> sent = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 200; ++i) {
          ++sent;
          server->send(t == 0 ? lane::writes : lane::reads, {"GET", "k"}, patient,
                       [&](const remote_reply&) { ++answered; });
        }
      });
    while (answered == 0 && sent < 600)
      std::this_thread::yield();
    server->close();
    for (auto& thread : threads)
      thread.join();
    CHECK(answered == sent);
    CHECK(sent == 600);
  }
}

} // namespace redis_client_test
