// Finds the candidate that is the best known configuration. Pure functions, any thread.
#pragma once

#include "messages/autotune/record.hpp"
#include "messages/visibility.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace HEARTH_PUBLIC hearth {

/// The candidates of a kernel, in a request for the best of them.
struct autotune_choices {
  std::vector<kernel_config> configs;
  std::string configs_hash; ///< a record of candidates with another hash is not used
  /// A configuration found by coordinate descent is accepted even if it is not a candidate.
  bool coordinate_descent = false;
};

/// The best configuration and the index of its candidate; no index if coordinate descent made it.
struct chosen_config {
  kernel_config config;
  std::optional<std::size_t> candidate;
};

/// The best of these candidates according to the record. Empty if the configs hash differs. If
/// coordinate descent found it and is on: the record's configuration, with warp specialisation 0
/// where the record has none. Otherwise the one candidate with the record's arguments, warps and
/// stages; empty if none or several match.
std::optional<chosen_config> choose(const autotune_record& record, const autotune_choices& among);

/// Whether they are equal in Python: numbers by value (`True == 1 == 1.0`), everything else by type
/// and value.
bool equal_as_python(const value& a, const value& b);

} // namespace hearth
