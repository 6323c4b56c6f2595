// A connection of the Redis protocol that a test feeds, over a server without sockets.
#pragma once

#include "runtime/server/resp/resp_session.hpp"
#include "tests/runtime/server/stepped_host.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::test {

// A connection of the Redis protocol that the test feeds.
struct client {
  client(server_bench& of, server::identity_ptr who)
      : host(std::make_shared<stepped_host>(std::move(who)))
      , session(std::make_unique<server::resp_session>(*host, of.context)) {}

  // Sends bytes, and waits until every reply to them is there.
  std::string ask(std::string_view bytes, std::size_t step = 1u << 20) {
    while (!bytes.empty() && !host->is_closed) {
      bytes.remove_prefix(feed(*session, bytes, step));
      REQUIRE(host->run_until([&] { return session->is_ready() || host->is_closed; }));
    }
    REQUIRE(host->run_until([&] { return session->is_idle() || host->is_closed; }));
    return host->take_output();
  }
  // Sends one command, as clients do.
  std::string command(const std::vector<std::string_view>& words) { return ask(encoded(words)); }
  static std::string encoded(const std::vector<std::string_view>& words) {
    std::string text = "*" + std::to_string(words.size()) + "\r\n";
    for (const auto word : words)
      text.append("$" + std::to_string(word.size()) + "\r\n").append(word).append("\r\n");
    return text;
  }

  std::shared_ptr<stepped_host> host;
  std::unique_ptr<server::resp_session> session;
};

inline client writer_of(server_bench& of, bool holds = false) {
  return {of, server_bench::make_identity(server::user_role::writer, holds)};
}

} // namespace hearth::test
