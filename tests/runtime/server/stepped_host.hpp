// A server without sockets for tests of sessions: its context over a runtime in memory, and a host
// that the test steps. Timers run when the test says so; nothing sleeps.
#pragma once

#include "runtime/server/connection/session.hpp"
#include "runtime/server/server_context.hpp"
#include "tests/support/runtimes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace hearth::test {

class stepped_host : public server::session_host {
public:
  explicit stepped_host(server::identity_ptr anonymous)
      : anonymous_(std::move(anonymous)) {}

  server::output_queue& output() override { return output_; }
  void resume() override { ++resumed; }
  void close_after_output() override { is_closed = true; }
  void post(std::function<void()> task) override {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(task));
    changed_.notify_all();
  }
  void post_after(std::chrono::milliseconds delay, std::function<void()> task) override {
    timers.emplace_back(delay, std::move(task));
  }
  const std::string& peer() const override { return peer_; }
  const server::identity_ptr& anonymous() const override { return anonymous_; }

  /// Runs what was posted until the predicate holds; waits for other threads in between. Returns
  /// false after a minute.
  template <class Predicate>
  bool run_until(Predicate holds) {
    while (!holds()) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, std::chrono::minutes(1), [&] { return !posted_.empty(); }))
          return false;
        task = std::move(posted_.front());
        posted_.pop_front();
      }
      task();
    }
    return true;
  }
  /// The output so far, as if it had been sent.
  std::string take_output() {
    std::string all;
    for (const auto piece : output_.pieces())
      all += piece;
    output_.clear();
    return all;
  }
  /// Runs all timers, as if their time had passed.
  void run_timers() {
    for (auto& [delay, task] : std::exchange(timers, {}))
      task();
  }

  std::vector<std::pair<std::chrono::milliseconds, std::function<void()>>> timers;
  int resumed = 0;
  bool is_closed = false;

private:
  const server::identity_ptr anonymous_;
  const std::string peer_ = "192.0.2.1";
  server::output_queue output_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> posted_;
};

/// Feeds bytes to a session, at most `step` at a time, as long as it reads.
/// Returns the number of bytes that it took.
inline std::size_t feed(server::session& to, std::string_view bytes, std::size_t step = 1u << 20) {
  std::size_t fed = 0;
  while (fed < bytes.size() && to.is_ready()) {
    const auto room = to.room();
    REQUIRE_FALSE(room.empty());
    const auto count = std::min({room.size(), step, bytes.size() - fed});
    std::copy_n(bytes.data() + fed, count, room.data());
    to.received(count);
    fed += count;
  }
  return fed;
}

struct server_bench {
  using role = server::user_role;

  static server::identity_ptr make_identity(role may, bool holds_misses = false) {
    server::identity who;
    who.user = "anonymous";
    who.is_anonymous = true;
    who.role = may;
    who.hold_misses = holds_misses;
    return std::make_shared<const server::identity>(std::move(who));
  }
  static server::user_entry make_user(const std::string& name, role may,
                                      const std::string& password) {
    server::user_entry one;
    one.who.user = name;
    one.who.role = may;
    one.password_hash = server::hash_password(password).value();
    one.token_hash = server::hash_token("token-of-" + name);
    return one;
  }

  server::entry_space open(const server::identity& who, unsigned database) {
    const auto name = "server." + who.name_space + "." + std::to_string(database);
    const auto trusted = "server.." + std::to_string(database);
    if (who.name_space.empty()) return {rt.open(trusted).value(), std::nullopt, order};
    return {rt.open(name).value(), rt.open(trusted).value(), order};
  }
  server::entry_space trusted() { return open({}, 0); }

  config how = in_memory();
  runtime rt{how};
  std::shared_ptr<server::change_order> order = std::make_shared<server::change_order>();
  server::server_settings settings{};
  server::server_counters counters{};
  // Passwords are hashed slowly: once a program.
  static const server::user_list& all_users() {
    static const server::user_list all{make_user("reader", role::reader, "r"),
                                       make_user("writer", role::writer, "w"),
                                       make_user("admin", role::admin, "a")};
    return all;
  }
  server::authenticator users{all_users()};
  std::string required_password{};
  std::vector<std::jthread> blocking{};
  server::server_context context{
      .settings = settings,
      .users = users,
      .counters = counters,
      .entries_of = [this](const server::identity& who, unsigned database)
          -> expected<server::entry_space> { return open(who, database); },
      .require_password = [this](const std::string& password) -> expected<void> {
        required_password = password;
        return {};
      },
      .run_blocking =
          [this](std::function<void()> task) { blocking.emplace_back(std::move(task)); },
      .metrics_page = [] { return std::string("hearth_up 1\n"); },
      .status_json = [] { return std::string("{\"up\":true}"); },
      .info_text = [] { return std::string("# Server\r\n"); },
  };
};

} // namespace hearth::test
