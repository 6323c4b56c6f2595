// Why two keys differ: the places at which their details differ. Pure functions, any thread.
#pragma once

#include "messages/key_field.hpp"
#include "messages/visibility.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace HEARTH_PUBLIC hearth {

enum class difference_kind : std::uint8_t {
  changed,     ///< both keys have it, with different content
  only_first,  ///< the second key does not have it
  only_second, ///< the first key does not have it
  moved,       ///< an item of a list is at another place in the second key
};

std::string_view to_string(difference_kind kind) noexcept;

/// One place at which details differ.
struct difference {
  difference_kind kind;
  std::string
      path; ///< path in the first key, in the second for `only_second`: `inputs[0].shape[1]`
  std::string first;  ///< the value in the first key, shortened; of long text the differing part
  std::string second; ///< the value in the second key; for `moved` its path there

  /// In one line: "inputs[0].shape[1]: 3 -> 4", "config.fuse: only in the first: true".
  std::string line() const;
};

/// The smallest differing parts, by path, at most `most` of them. Empty if and only if the details
/// are equal. Lists are matched item by item: an inserted, removed or moved item does not make the
/// other items differ.
std::vector<difference> explain(const key_field& first, const key_field& second,
                                std::size_t max = 1000);

} // namespace hearth
