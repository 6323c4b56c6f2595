// Which of the candidates the best known configuration is. Pure functions, any thread.
#pragma once

#include "messages/autotune/record.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace hearth {

/// The candidates of a kernel, as somebody asks for the best of them.
struct autotune_choices {
  std::vector<kernel_config> configs;
  std::string configs_hash; ///< what is known of candidates with another hash is no answer
  /// What coordinate descent found is taken though it is not among the candidates.
  bool coordinate_descent = false;
};

/// The best, and which candidate that is; none for one that coordinate descent made.
struct chosen_config {
  kernel_config config;
  std::optional<std::size_t> candidate;
};

/// What the record says of these candidates. Of another configs hash: nothing. Found by coordinate
/// descent, and that is on: the record's configuration, warp specialisation 0 where it says
/// nothing. Else the one candidate whose arguments, warps and stages are the record's; nothing when
/// there are none or several.
std::optional<chosen_config> choose(const autotune_record& record, const autotune_choices& among);

/// Whether Python would call them equal: numbers by their value (`True == 1 == 1.0`), all else by
/// type and value.
bool equal_as_python(const value& a, const value& b);

} // namespace hearth
