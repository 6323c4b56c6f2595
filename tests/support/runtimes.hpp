// Runtimes for tests: over a store in a temporary directory, or in memory alone.
#pragma once

#include "runtime/handle/runtime.hpp"
#include "tests/support/temporary_directory.hpp"

#include <caf/actor_registry.hpp>
#include <caf/actor_system.hpp>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace hearth::test {

// Keeps the log's lines; any thread.
struct log_lines {
  log_callback callback() {
    return [this](log_level level, std::string_view text) {
      const std::lock_guard lock(mutex);
      lines.push_back(std::string(to_string(level)) + ": " + std::string(text));
    };
  }
  std::mutex mutex;
  std::vector<std::string> lines;
};

struct on_disk {
  config settings() {
    config result;
    result.store = directory / "store";
    result.jobs = 1;
    result.log = log.callback();
    return result;
  }
  test::temporary_directory directory;
  log_lines log;
};

inline config in_memory() {
  config result;
  result.jobs = 1;
  return result;
}

// A runtime on a host of its own, whose store is in `directory`, over the server at `url`.
inline config of_host(const std::filesystem::path& directory, const std::string& url) {
  config result;
  result.store = directory / "store";
  result.jobs = 1;
  result.remote.url = url;
  result.remote.deadline = std::chrono::seconds(10); // a busy machine is not a failing server
  return result;
}

// A configuration that refuses requests above this many in flight.
inline config refusing_beyond(std::size_t max) {
  auto result = in_memory();
  result.max_inflight = max;
  result.overload = overload_policy::refuse;
  return result;
}

// A coroutine that runs by itself, for `co_await`.
struct task {
  struct promise_type {
    task get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

/// Whether so few actors of a host's system are left, within a minute. An actor that has ended is
/// counted until its last thread has left it; CAF's own wait does not see counts above one.
inline bool goes_down_to(caf::actor_system& host, std::size_t actors) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (host.registry().running() != actors && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  return host.registry().running() == actors;
}

} // namespace hearth::test
