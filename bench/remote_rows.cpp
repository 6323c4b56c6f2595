// remote.connection: the remote tier's connection alone, against redis-benchmark.
#include "bench/frame/figures.hpp"
#include "bench/frame/timing.hpp"
#include "bench/peers/redis_process.hpp"
#include "bench/rows.hpp"
#include "runtime/net/redis_client.hpp"

#include <atomic>
#include <fmt/format.h>
#include <future>
#include <memory>
#include <stdexcept>

namespace hearth::bench {
namespace {

using actors::remote_client;
using actors::remote_reply;

constexpr std::size_t depth = 64;
constexpr std::size_t names = 10'000;
constexpr std::size_t value_bytes = 1024;
constexpr std::chrono::milliseconds patient{60'000};

// Gets, `depth` of them in flight at any time: a reply sends the next.
class pipelined_gets {
public:
  pipelined_gets(remote_client& server, std::size_t count)
      : server_(server)
      , unsent_(count)
      , unanswered_(count) {}

  void run() {
    for (std::size_t i = 0; i < depth; ++i)
      send_next();
    if (!done_->get_future().get()) throw std::runtime_error("Redis did not give what it has");
  }

private:
  void send_next() {
    if (unsent_.fetch_sub(1) <= 0) return;
    const auto number = state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    server_.send(remote_client::lane::reads,
                 {"GET", fmt::format("k{:012}", (number >> 33) % names)}, patient,
                 [this](const remote_reply& reply) { take(reply); });
  }
  void take(const remote_reply& reply) {
    right_ = right_ && reply.value.text.size() == value_bytes;
    send_next();
    const auto done = done_; // the waiting thread may destroy this before set_value returns
    if (--unanswered_ == 0) done->set_value(right_);
  }

  remote_client& server_;
  std::atomic<std::int64_t> unsent_;
  std::size_t unanswered_;
  std::atomic<std::uint64_t> state_ = 1;
  bool right_ = true;
  const std::shared_ptr<std::promise<bool>> done_ = std::make_shared<std::promise<bool>>();
};

void measure_connection(row_run& run) {
  const redis_process redis(run.how().directory);
  redis.fill(names, value_bytes);
  const auto server = net::connect_redis(*net::parse_remote_url(redis.url()));
  if (!server) throw std::runtime_error(server.error().text());
  const auto gets = run.scaled(300'000, 3'000);
  run.compare(
      {{"hearth",
        [&] {
          pipelined_gets all(**server, gets);
          const stopwatch watch;
          all.run();
          return watch.seconds() / static_cast<double>(gets);
        }},
       {"redis",
        [&] {
          return redis.seconds_an_operation(gets, depth, names, {"GET", "k__rand_int__"});
        }}},
      fmt::format("a get of 1 KiB from a redis-server on a Unix socket, {} pipelined on one "
                  "connection",
                  depth));
  (*server)->close();
}

} // namespace

void add_remote_rows(registry& all) {
  all.rows.push_back({"remote.connection",
                      "pipelined gets from a local Redis, by the connection alone",
                      {"redis"},
                      measure_connection});
}

} // namespace hearth::bench
