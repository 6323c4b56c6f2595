// What measuring the choices of an operation showed, remembered: asked again, nothing is measured.
//
// Any thread; copies share the timings. Blocks its caller while it or somebody else measures; the
// runtime does not shut down while a benchmark runs.
#pragma once

#include "messages/autotune/choices.hpp"
#include "runtime/handle/cache.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

class runtime;

/// What is measured together.
struct choice_question {
  std::string operation;
  std::string inputs;
  std::string precision;
  std::vector<std::string> choices; ///< their hashes
};

class choice_timings {
public:
  /// Measures every choice of the question. Called on the caller's thread.
  using benchmark = std::function<expected<choice_times>()>;

  /// `enabled` false: nothing is looked up and nothing is kept. Errors: `closed`, `forked`;
  /// `invalid_argument` when somebody opened the cache with other options.
  static expected<choice_timings> open(runtime& in, bool enabled = true);

  /// The timings of the choices. When any is missing all are measured again, together, and kept;
  /// without a function what is known is returned. One benchmark at a time runs for a question, of
  /// all threads and processes; the others wait for it. Errors: what the function says;
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
