// The parts of tuning that need no actor: what is kept with an entry, and why a candidate is left
// out. Pure functions, any thread.
#pragma once

#include "messages/tuning.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::actors {

/// What is kept with an entry beside its shared object.
struct entry_metadata {
  value::map config;
  std::string config_text;
  std::int64_t time_ns = 0;
  std::int64_t slowest_time_ns = 0;
  std::int64_t time_taken_ns = 0; ///< what making the entry took: what a hit saves
  std::vector<rejection> rejected;
};

/// As an artifact's metadata.
value::map encode_entry(const entry_metadata& entry);
/// Errors: `malformed` when the metadata are not those of a tuned entry.
expected<entry_metadata> decode_entry(const artifact& stored);

/// SHA-256 hex of the candidates' configurations, in their order.
std::string configs_hash_of(const tune_request& request);

/// Those configurations, as the autotune cache wants to know them.
autotune_choices choices_of(const tune_request& request);

/// The candidates' actions, by which what was measured of them is kept.
std::vector<std::string> choice_hashes_of(const tune_request& request);

/// Why a compile that did not succeed leaves its candidate out: one line with the compiler's first
/// error.
std::string compile_reason(const process_result& run);

/// The same for an error that came before the compiler was started, or instead of it.
std::string failure_reason(const error& why);

/// The whole of it, for those who wait: the reason and the compiler's own output.
error compile_error(const std::string& label, const process_result& run);

} // namespace hearth::actors
