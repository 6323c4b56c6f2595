// serve.*: the server against redis-server, each driven by redis-benchmark.
#include "bench/frame/figures.hpp"
#include "bench/frame/started_program.hpp"
#include "bench/peers/peer_program.hpp"
#include "bench/peers/redis_benchmark.hpp"
#include "bench/peers/redis_process.hpp"
#include "bench/rows.hpp"

#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace hearth::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t connections = 50;
constexpr std::size_t names = 10'000;

// A `hearth serve` on a Unix socket, with a store of its own.
class hearth_server {
public:
  explicit hearth_server(const fs::path& directory)
      : socket_(fs::absolute(directory) / "hearth.sock")
      , running_(start_peer({hearth_program(), "serve", "--store",
                             (fs::absolute(directory) / "served").string(), "--listen",
                             "resp=unix:" + socket_.string(), "--role", "admin", "--memory-budget",
                             "2GiB"})) {
    if (read_until(running_.output, "listening: ").empty())
      throw std::runtime_error("hearth serve cannot be started");
  }
  hearth_server(const hearth_server&) = delete;
  hearth_server& operator=(const hearth_server&) = delete;
  ~hearth_server() {
    ::kill(running_.pid, SIGKILL);
    ::waitpid(running_.pid, nullptr, 0);
    ::close(running_.output);
  }
  const fs::path& socket() const { return socket_; }

private:
  fs::path socket_;
  peer_program running_;
};

struct load_shape {
  std::string_view command; // "get" or "set"
  std::size_t value_bytes;
  std::size_t depth;
};

void measure(row_run& run, const load_shape& shape) {
  const auto requests = run.scaled(shape.value_bytes > 10'000 ? 30'000 : 200'000, 1'000);
  std::optional<hearth_server> hearth;
  std::optional<redis_process> redis;
  if (run.wants("hearth")) hearth.emplace(run.how().directory);
  if (run.wants("redis")) redis.emplace(run.how().directory);
  const auto load = [&](const fs::path& socket, std::string_view command, std::size_t count,
                        std::size_t depth) {
    return redis_benchmark({socket, count, depth, names, connections, shape.value_bytes},
                           {"-t", std::string(command)});
  };
  const auto turn = [&](const fs::path& socket) {
    return [&, socket] { return load(socket, shape.command, requests, shape.depth); };
  };
  // Every name has a value before the gets.
  if (hearth) load(hearth->socket(), "set", 4 * names, 16);
  if (redis) load(redis->socket(), "set", 4 * names, 16);
  run.compare({{"hearth", hearth ? turn(hearth->socket()) : turn({})},
               {"redis", redis ? turn(redis->socket()) : turn({})}},
              fmt::format("a {} of {} bytes over {} connections, {} in flight on each",
                          shape.command, shape.value_bytes, connections, shape.depth));
}

} // namespace

void add_serve_rows(registry& all) {
  for (const std::string_view command : {"get", "set"})
    for (const auto& [size, bytes] : {std::pair{"1k", 1024}, {"64k", 65536}})
      for (const std::size_t depth : {1, 16})
        all.rows.push_back(
            {fmt::format("serve.{}.{}.p{}", command, size, depth),
             fmt::format("redis-benchmark's {} of {} bytes from `hearth serve`, {} in flight on "
                         "each of {} connections",
                         command, bytes, depth, connections),
             {"redis"},
             [shape = load_shape{command, static_cast<std::size_t>(bytes), depth}](row_run& run) {
               measure(run, shape);
             }});
}

} // namespace hearth::bench
