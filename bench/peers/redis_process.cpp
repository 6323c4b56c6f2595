#include "bench/peers/redis_process.hpp"

#include "bench/peers/peer_program.hpp"
#include "bench/peers/redis_benchmark.hpp"
#include "runtime/net/redis_client.hpp"

#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <future>
#include <memory>
#include <random>
#include <stdexcept>
#include <string_view>

namespace hearth::bench {

redis_process::redis_process(const std::filesystem::path& directory)
    : directory_(std::filesystem::absolute(directory)) {
  running_ =
      start_peer({"redis-server", "--port", "0", "--unixsocket", socket(), "--save", "",
                  "--appendonly", "no", "--dir", directory_, "--daemonize", "no", "--logfile", ""});
  constexpr std::string_view ready = "ready to accept connections at";
  if (read_until(running_.output, ready).find(ready) == std::string::npos)
    throw std::runtime_error("redis-server cannot be started: install the package redis-server");
}

redis_process::~redis_process() { end_peer(running_); }

void redis_process::freeze(bool stopped) const {
  ::kill(running_.pid, stopped ? SIGSTOP : SIGCONT);
}

void redis_process::fill(std::size_t names, std::size_t value_bytes) const {
  using actors::remote_client;
  using actors::remote_reply;
  const auto server = net::connect_redis(*net::parse_remote_url(url()));
  if (!server) throw std::runtime_error(server.error().text());
  std::mt19937_64 random(7);
  for (std::size_t i = 0; i < names; ++i) {
    std::string bytes(value_bytes, '\0');
    for (auto& byte : bytes)
      byte = static_cast<char>(random());
    const auto answer = std::make_shared<std::promise<remote_reply>>();
    (*server)->send(remote_client::lane::writes, {"SET", fmt::format("k{:012}", i), bytes},
                    std::chrono::minutes(1),
                    [answer](remote_reply reply) { answer->set_value(std::move(reply)); });
    if (const auto reply = answer->get_future().get(); !reply.problem.empty())
      throw std::runtime_error(reply.problem);
  }
}

double redis_process::seconds_an_operation(std::size_t requests, std::size_t depth,
                                           std::size_t names,
                                           const std::vector<std::string>& command) const {
  return redis_benchmark({socket(), requests, depth, names}, command);
}

} // namespace hearth::bench
