// What `hearth compile` shows on a terminal while it works: how far it is, how long it will take,
// and the request that it works at. Nothing elsewhere, and nothing with --quiet.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/orchestrator/compile_plan.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::cli {

using symbol_sizes = std::vector<std::pair<std::string, std::int64_t>>;

/// "m=256 n=256"
std::string sizes_text(const symbol_sizes& sizes);

/// How far a plan is.
struct plan_position {
  std::size_t done = 0; ///< requests
  std::size_t made = 0; ///< of them, those that were not hits
  std::size_t all = 0;
  std::chrono::nanoseconds elapsed{0};
  std::string now; ///< the request that is worked at; may be empty
};

/// The time that the open requests will take, as those that were made took: hits come at the
/// beginning and take no time. Nothing before one was made, and when none is open.
std::optional<std::chrono::nanoseconds> time_left(const plan_position& at);

/// "[######......] 3/12, about 40 s left: matmul m=256 n=256", of at most `width` characters.
std::string progress_line(const plan_position& at, std::size_t width);

/// Created by the thread that runs the plan. Any thread calls it.
class compile_progress {
public:
  /// Without a terminal each finished request is logged, as an info.
  compile_progress(const orchestrator::plan& work, log_callback log);
  compile_progress(const compile_progress&) = delete;
  compile_progress& operator=(const compile_progress&) = delete;

  /// A `progress_callback` of `compile_plan`.
  void operator()(std::size_t done, std::size_t all, const orchestrator::request_report& last);
  /// Prints a line of its own, above what is shown.
  void note(std::string_view text);
  /// Erases what is shown.
  void clear();

private:
  struct request {
    std::string name; // "matmul m=256 n=256"
    bool is_done = false;
  };

  void show();

  const bool is_shown_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const log_callback log_;
  std::mutex mutex_;              // protects all below, and the terminal
  std::vector<request> requests_; // in plan order, in which they are worked at
  plan_position at_;
};

} // namespace hearth::cli
