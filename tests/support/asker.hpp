// Sends requests to a remote server and waits for the replies, for tests.
#pragma once

#include "runtime/net/redis_client.hpp"

#include <doctest/doctest.h>
#include <future>
#include <memory>
#include <string>
#include <vector>

namespace hearth::test {

using actors::remote_client;
using actors::remote_failure;
using actors::remote_reply;
using lane = remote_client::lane;
using namespace std::chrono_literals;

/// The deadline of requests that must succeed: generous, since the machine may be busy.
constexpr std::chrono::milliseconds patient = 30s;

inline std::future<remote_reply> ask_later(remote_client& server, remote_client::command words,
                                           std::chrono::milliseconds deadline = patient,
                                           lane by = lane::reads) {
  auto promise = std::make_shared<std::promise<remote_reply>>();
  auto answer = promise->get_future();
  server.send(by, std::move(words), deadline,
              [promise](remote_reply reply) { promise->set_value(std::move(reply)); });
  return answer;
}

/// Returns the reply; the test fails when none arrives for a long time.
inline remote_reply answer_of(std::future<remote_reply> waiting) {
  REQUIRE_MESSAGE(waiting.wait_for(120s) == std::future_status::ready, "nobody answered");
  return waiting.get();
}

inline remote_reply ask(remote_client& server, remote_client::command words,
                        std::chrono::milliseconds deadline = patient, lane by = lane::reads) {
  return answer_of(ask_later(server, std::move(words), deadline, by));
}

inline std::shared_ptr<remote_client> connected(const std::string& url) {
  auto server = net::connect_redis(*net::parse_remote_url(url));
  REQUIRE(server);
  return *server;
}

inline bool is_ok(const remote_reply& reply) {
  CHECK(reply.problem == "");
  return reply.failure == remote_failure::none;
}

inline std::string name_of(const remote_reply& reply) {
  return std::string(actors::to_string(reply.failure));
}

} // namespace hearth::test
