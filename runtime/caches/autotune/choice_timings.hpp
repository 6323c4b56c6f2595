// Stored timings of the choices of an operation: a repeated question measures nothing.
//
// Any thread; copies share the timings. Blocks the caller while it or another caller measures; the
// runtime does not shut down while a benchmark runs.
#pragma once

#include "messages/autotune/choices.hpp"
#include "messages/visibility.hpp"
#include "runtime/handle/cache.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace HEARTH_PUBLIC hearth {

class runtime;

/// The choices that are measured together.
struct choice_question {
  std::string operation;
  std::string inputs;
  std::string precision;
  std::vector<std::string> choices; ///< hashes of the choices
  /// The size that stands for symbolic ones while the choices are measured. Each has timings of its
  /// own, also apart from those without one.
  std::optional<std::int64_t> hint_override{};
};

class choice_timings {
public:
  /// Measures every choice of the question. Called on the caller's thread.
  using benchmark = std::function<expected<choice_times>()>;

  /// With `enabled` false nothing is looked up or stored. Errors: `closed`, `forked`;
  /// `invalid_argument` when the cache is open with other options.
  static expected<choice_timings> open(runtime& in, bool enabled = true);

  /// The timings of the choices. When one is missing, all are measured again, together, and stored;
  /// without a function the known timings are returned. One benchmark of a question runs at a time,
  /// over all threads and processes; other callers wait for it. Errors: those of the function;
  /// `invalid_value` when it leaves a choice out.
  expected<choice_times> lookup(const choice_question& question,
                                const benchmark& measure = {}) const;

private:
  choice_timings(std::shared_ptr<engine::runtime_core> core, cache over, bool enabled)
      : core_(std::move(core))
      , cache_(std::move(over))
      , enabled_(enabled) {}

  choice_times known(const key& question) const;
  expected<choice_times> measure_alone(const choice_question& question, const key& at,
                                       const benchmark& measure) const;

  std::shared_ptr<engine::runtime_core> core_;
  cache cache_;
  bool enabled_;
};

} // namespace hearth
