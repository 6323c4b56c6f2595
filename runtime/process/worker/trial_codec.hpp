// The messages of a kernel's trial between a host and `hearth-worker trial`: canonical msgpack.
// Pure functions, any thread.
//
// The request is one map. The report (descriptor 3) is a sequence of single bytes, each a phase
// that the trial has entered, and then, if it got that far, one map: the answer. A phase is below
// 0x80, a map is not, so the two cannot be confused, and a report that ends early tells where the
// kernel died.
#pragma once

#include "messages/error.hpp"
#include "messages/process.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace hearth::worker {

/// The phase of a trial.
enum class trial_phase : char {
  preparing = 0, ///< reading the request, making the buffers
  loading = 1,   ///< loading the library runs its initialisers
  reference = 2,
  entry = 3,
  timing = 4,
};

struct trial_report {
  trial_phase phase = trial_phase::preparing; ///< the last phase that was entered
  std::optional<trial_result> answer;         ///< empty: it ended before, or wrote other bytes
};

std::string encode_trial_request(const trial_request& asked);
/// Errors: `malformed`.
expected<trial_request> decode_trial_request(std::string_view bytes);

std::string encode_trial_result(const trial_result& result);
trial_report decode_trial_report(std::string_view bytes);

} // namespace hearth::worker
