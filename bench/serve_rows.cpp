// serve.*: the server against redis-server, driven by redis-benchmark, and against nginx, driven by
// wrk.
#include "bench/frame/figures.hpp"
#include "bench/frame/started_program.hpp"
#include "bench/peers/nginx_process.hpp"
#include "bench/peers/peer_program.hpp"
#include "bench/peers/redis_benchmark.hpp"
#include "bench/peers/redis_process.hpp"
#include "bench/peers/wrk.hpp"
#include "bench/rows.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace hearth::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t connections = 50;
constexpr std::size_t names = 10'000;

// A `hearth serve` with a store of its own.
class hearth_server {
public:
  /// `listen`: as `--listen` takes it.
  hearth_server(const fs::path& directory, const std::string& listen)
      : running_(start_peer({hearth_program(), "serve", "--store",
                             (fs::absolute(directory) / "served").string(), "--listen", listen,
                             "--role", "admin", "--memory-budget", "2GiB"})) {
    const auto line = read_until(running_.output, "\n");
    if (!line.starts_with("listening: ")) {
      end_peer(running_);
      throw std::runtime_error("hearth serve cannot be started");
    }
    port_ = line.substr(line.rfind(':') + 1);
    port_.erase(port_.find_last_not_of("\n") + 1);
  }
  hearth_server(const hearth_server&) = delete;
  hearth_server& operator=(const hearth_server&) = delete;
  ~hearth_server() { end_peer(running_); }

  /// Of a listener on 127.0.0.1.
  std::string url() const { return "http://127.0.0.1:" + port_; }

private:
  peer_program running_;
  std::string port_;
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
  const auto hearth_socket = fs::absolute(run.how().directory) / "hearth.sock";
  if (run.wants("hearth"))
    hearth.emplace(run.how().directory, "resp=unix:" + hearth_socket.string());
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
  if (hearth) load(hearth_socket, "set", 4 * names, 16);
  if (redis) load(redis->socket(), "set", 4 * names, 16);
  run.compare(
      {{"hearth", turn(hearth_socket)}, {"redis", redis ? turn(redis->socket()) : turn({})}},
      fmt::format("a {} of {} bytes over {} connections, {} in flight on each", shape.command,
                  shape.value_bytes, connections, shape.depth));
}

// Files f0, f1, ... of random bytes.
void write_files(const fs::path& folder, std::size_t count, std::size_t bytes) {
  fs::create_directories(folder);
  std::mt19937_64 random(bytes);
  std::string content(bytes, '\0');
  for (std::size_t i = 0; i < count; ++i) {
    for (auto& byte : content)
      byte = static_cast<char>(random());
    std::ofstream(folder / ("f" + std::to_string(i)), std::ios::binary) << content;
  }
}

// Stores every file of a folder at its name.
void upload(const fs::path& folder, std::size_t count, const std::string& url) {
  const auto list = folder.parent_path() / "uploads";
  std::ofstream lines(list);
  for (std::size_t i = 0; i < count; ++i)
    lines << "upload-file = \"" << (folder / ("f" + std::to_string(i))).string() << "\"\nurl = \""
          << url << "/f" << i << "\"\n";
  lines.close();
  if (run_peer({"curl", "-sS", "--fail", "-K", list}).status != 0)
    throw std::runtime_error("curl cannot store the files");
}

void measure_http(row_run& run, std::size_t value_bytes) {
  constexpr std::size_t files = 1'000;
  const auto seconds = run.scaled(3, 1);
  const auto directory = fs::absolute(run.how().directory);
  write_files(directory / "files", files, value_bytes);
  std::optional<hearth_server> hearth;
  std::optional<nginx_process> nginx;
  if (run.wants("hearth")) {
    hearth.emplace(directory, "http=127.0.0.1:0");
    upload(directory / "files", files, hearth->url());
  }
  if (run.wants("nginx")) nginx.emplace(directory, directory / "files");
  const auto load = [&](const auto& server) {
    return [&] { return wrk({server->url(), connections, seconds, files}, directory); };
  };
  run.compare({{"hearth", load(hearth)}, {"nginx", load(nginx)}},
              fmt::format("a GET of {} bytes over {} connections", value_bytes, connections));
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
  for (const auto& [size, bytes] : {std::pair{"1k", 1024}, {"64k", 65536}})
    all.rows.push_back(
        {fmt::format("serve.http.get.{}", size),
         fmt::format("wrk's gets of {} bytes from `hearth serve` over {} connections", bytes,
                     connections),
         {"nginx"},
         [value_bytes = static_cast<std::size_t>(bytes)](row_run& run) {
           measure_http(run, value_bytes);
         }});
}

} // namespace hearth::bench
