// remote.tier: the remote tier's actor alone, with requests from another actor: remote.get without
// the memory shard, its messages, and the caller's futures.
#include "bench/frame/figures.hpp"
#include "bench/frame/timing.hpp"
#include "bench/peers/redis_process.hpp"
#include "bench/remote_entries.hpp"
#include "bench/rows.hpp"
#include "runtime/engine/remote_tier_parts.hpp"
#include "runtime/engine/scheduler.hpp"
#include "runtime/handle/runtime.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

#include <fmt/format.h>
#include <future>
#include <memory>
#include <stdexcept>
#include <utility>

namespace hearth::bench {
namespace {

constexpr std::size_t depth = 64;
constexpr std::size_t keys_a_message = 16;
constexpr std::size_t names = 10'000;
constexpr std::size_t value_bytes = 1024;

// The remote tier, with the parts that a runtime gives it.
class lone_tier {
public:
  explicit lone_tier(const std::string& url)
      : system_(threads_and_types())
      , parts_(parts(url, system_))
      , tier_(system_.spawn(actors::remote_tier, parts_)) {}
  ~lone_tier() {
    parts_.server->close(); // first: its thread runs actors of the system
    caf::anon_send_exit(caf::actor_cast<caf::actor>(tier_), caf::exit_reason::user_shutdown);
  }
  lone_tier(const lone_tier&) = delete;
  lone_tier& operator=(const lone_tier&) = delete;

  caf::actor_system& system() noexcept { return system_; }
  const remote_tier_actor& tier() const noexcept { return tier_; }

private:
  caf::actor_system_config& threads_and_types() {
    add_message_types(config_);
    engine::share_work(config_);
    return config_;
  }
  static actors::remote_tier_config parts(const std::string& url, caf::actor_system& system) {
    remote_config settings;
    settings.url = url;
    settings.deadline = std::chrono::seconds(30);
    auto made = engine::make_remote_tier(
        settings, [](log_level, std::string_view) {}, &system);
    if (!made) throw std::runtime_error(made.error().text());
    return std::move(*made);
  }

  caf::actor_system_config config_;
  caf::actor_system system_;
  actors::remote_tier_config parts_;
  remote_tier_actor tier_;
};

// `count` gets, `depth` of them in flight at any time.
struct gets {
  remote_tier_actor tier;
  const key_list& keys;
  std::size_t unasked;
  std::size_t unanswered = unasked;
  std::size_t next = 0;
  bool right = true;
  std::promise<bool> done{};
};

bool is_right(const lookup_list& found) {
  for (const auto& one : found)
    if (!one || one->value.payload().size() != value_bytes) return false;
  return true;
}

void ask_next(caf::event_based_actor* self, const std::shared_ptr<gets>& all) {
  if (all->unasked == 0) return;
  all->unasked -= keys_a_message;
  key_list some;
  some.reserve(keys_a_message);
  for (std::size_t i = 0; i < keys_a_message; ++i)
    some.push_back(all->keys[all->next++ % all->keys.size()]);
  self->request(all->tier, caf::infinite, verb::get_v, std::move(some))
      .then(
          [self, all](const lookup_list& found) {
            all->right = all->right && is_right(found);
            ask_next(self, all);
            all->unanswered -= keys_a_message;
            if (all->unanswered == 0) all->done.set_value(all->right);
          },
          [all](const caf::error&) { all->done.set_value(false); });
}

void ask_all(caf::event_based_actor* self, const std::shared_ptr<gets>& all) {
  for (std::size_t asked = 0; asked < depth; asked += keys_a_message)
    ask_next(self, all);
}

double seconds_a_get(lone_tier& ours, const key_list& keys, std::size_t count) {
  const auto all = std::make_shared<gets>(gets{ours.tier(), keys, count});
  auto done = all->done.get_future();
  const stopwatch watch;
  ours.system().spawn(ask_all, all);
  if (!done.get()) throw std::runtime_error("the remote tier did not give what it has");
  return watch.seconds() / static_cast<double>(count);
}

void measure_tier(row_run& run) {
  const redis_process redis(run.how().directory);
  const dataset data(run.scaled(names, 500), value_bytes);
  fill_remote(redis.url(), data);
  const auto bytes = envelope_bytes(data);
  redis.fill(data.size(), bytes);
  const auto keys = remote_keys(data);
  lone_tier ours(redis.url());
  const auto count = run.scaled(200'000, 1'000) / depth * depth;
  run.compare(
      {{"hearth", [&] { return seconds_a_get(ours, keys, count); }},
       {"redis",
        [&] {
          return redis.seconds_an_operation(count, depth, data.size(), {"GET", "k__rand_int__"});
        }}},
      fmt::format("a get of 1 KiB from a redis-server on a Unix socket, by messages to the remote "
                  "tier's actor, checksum verified, {} in flight, {} a message; "
                  "redis-benchmark: {} pipelined on one connection, {} bytes",
                  depth, keys_a_message, depth, bytes));
}

} // namespace

void add_remote_tier_rows(registry& all) {
  all.rows.push_back({"remote.tier",
                      "pipelined gets from a local Redis, by the remote tier's actor alone",
                      {"redis"},
                      measure_tier});
}

} // namespace hearth::bench
