// The parts of tuning that need no actor: the metadata of an entry, and the reasons for leaving a
// candidate out. Pure functions, any thread.
#pragma once

#include "messages/tuning.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::actors {

/// The metadata kept with an entry's shared object.
struct entry_metadata {
  value::map config;
  std::string config_text;
  std::int64_t time_ns = 0;
  std::int64_t slowest_time_ns = 0;
  std::int64_t time_taken_ns = 0; ///< the time that making the entry took; a hit saves it
  std::vector<rejection> rejected;
};

/// The metadata of an artifact.
value::map encode_entry(const entry_metadata& entry);
/// Errors: `malformed` if this is not the metadata of a tuned entry.
expected<entry_metadata> decode_entry(const artifact& stored);

/// SHA-256 hex of the candidates' configurations, in their order.
std::string configs_hash_of(const tune_request& request);

/// The candidates' configurations, in the autotune cache's form.
autotune_choices choices_of(const tune_request& request);

/// `observed` of each candidate of the request.
std::vector<std::string> observed_by(const tune_request& request);

/// The candidates' actions, with what they have observed: the names under which their times are
/// kept.
std::vector<std::string> choice_hashes_of(const tune_request& request,
                                          const std::vector<std::string>& observed);

/// Why a failed compile leaves its candidate out: one line with the compiler's first error.
std::string compile_reason(const process_result& run);

/// As above, for an error before or instead of the compiler's start.
std::string failure_reason(const error& why);

/// The full error for the waiting requests: the reason and the compiler's output.
error compile_error(const std::string& label, const process_result& run);

} // namespace hearth::actors
