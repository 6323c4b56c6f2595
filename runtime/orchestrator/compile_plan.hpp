// Runs a compile plan: finds every request in the cache, or compiles, tries and stores it.
//
// Called from one plain thread, which it blocks until the plan is done.
#pragma once

#include "messages/error.hpp"
#include "messages/replies.hpp"
#include "messages/tuning.hpp"
#include "runtime/handle/runtime.hpp"
#include "runtime/orchestrator/plan.hpp"
#include "runtime/orchestrator/tuning_options.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hearth::orchestrator {

/// The outcome of one request: a kernel with one shape.
struct request_report {
  std::string name;
  std::vector<std::pair<std::string, std::int64_t>> sizes; ///< in the order of the plan's symbols
  std::optional<std::size_t> guard;
  std::string guard_text;
  tune_reply result; ///< its times are those of the shape that the entry was tuned on
  /// Of the request that made an entry: why none was found, if earlier keys of the kernel are
  /// known: `sources["a.h"]: "9f86d081884c7d65" -> "60303ae22b998861"`, "libx.so changed".
  std::vector<std::string> missed{};
};

struct plan_report {
  std::uint64_t compiler_runs = 0; ///< programs made by starting a compiler, in this process
  std::uint64_t trials = 0;        ///< kernels tried, in this process
  std::uint64_t hits = 0;
  std::uint64_t failures = 0; ///< requests without a good kernel
  std::int64_t wall_ns = 0;
  std::int64_t time_saved_ns = 0;       ///< time to make the hit entries, each once
  bundle_session bundle;                ///< how the session of tunings began, ...
  bundle_end bundled;                   ///< ... and ended
  std::vector<request_report> requests; ///< in plan order
  span_list spans;                      ///< spans of compiles and trials
};

/// Called with the number of completed requests, their total, and the last completed one. Runs on
/// an actor's thread; must not block.
using progress_callback =
    std::function<void(std::size_t done, std::size_t total, const request_report& last)>;

/// Runs the plan. Its tunings are one session of the bundler if there is a remote tier and a kernel
/// is tuned. A failed kernel is not an error: the report lists it. Errors: `not_found` (the
/// compiler), `invalid_argument` and `unsupported` (flags), `closed`.
expected<plan_report> compile_plan(runtime& rt, const plan& work, const tuning_options& tuning,
                                   const progress_callback& progress);

} // namespace hearth::orchestrator
