// Why two keys differ: the places at which their details do. Pure functions, any thread.
#pragma once

#include "messages/key_field.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

enum class difference_kind : std::uint8_t {
  changed,     ///< both have it, with different content
  only_first,  ///< the second has none
  only_second, ///< the first has none
  moved,       ///< an item of a list that stands elsewhere in the second
};

std::string_view to_string(difference_kind kind) noexcept;

/// One place at which details differ.
struct difference {
  difference_kind kind;
  std::string path;   ///< in the first, or in the second for `only_second`: `inputs[0].shape[1]`
  std::string first;  ///< what is there, shortened; for long text the part that differs
  std::string second; ///< the same of the second; for `moved` its path there

  /// In one line: "inputs[0].shape[1]: 3 -> 4", "config.fuse: only in the first: true".
  std::string line() const;
};

/// The smallest parts that differ, by path, at most `most` of them. Empty if and only if the
/// details are equal. Lists are matched item by item: what is inserted, dropped or moved does not
/// make the rest differ.
std::vector<difference> explain(const key_field& first, const key_field& second,
                                std::size_t max = 1000);

} // namespace hearth
