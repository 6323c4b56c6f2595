// What made a stored entry, as far as its metadata tell. Pure functions, any thread.
#pragma once

#include "messages/artifact.hpp"

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace hearth::cli {

/// Empty, or zero, where the metadata do not tell.
struct entry_origin {
  std::int64_t time_taken_ns = 0; ///< what a hit saves
  std::string kernel;             ///< of a tuning
  std::string what;               ///< "TILE=16 UNROLL=2", "status 0, 1 output", "guard s0 > 1"
  std::string toolchain;          ///< of details that were kept with the entry
  /// Of a graph, the host's texts by name: its output code, its graph as a program.
  std::map<std::string, std::string> documents{};

  bool is_known() const {
    return time_taken_ns > 0 || !(kernel + what + toolchain).empty() || !documents.empty();
  }
};

/// `cache` is the name of the entry's cache: tunings tell more in their payload. Never fails.
entry_origin origin_of(std::string_view cache, const artifact& entry);

/// "1.20 s, TILE=16 UNROLL=2"; "-" when nothing is known.
std::string text_of(const entry_origin& origin);
/// The members that are known; null when none is.
nlohmann::json json_of(const entry_origin& origin);

} // namespace hearth::cli
