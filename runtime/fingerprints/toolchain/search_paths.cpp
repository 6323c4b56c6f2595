#include "runtime/fingerprints/toolchain/search_paths.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace hearth::fingerprints {

bool is_search_path(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 7> names{"COMPILER_PATH",        "CPATH",
                                                  "CPLUS_INCLUDE_PATH",   "C_INCLUDE_PATH",
                                                  "LIBRARY_PATH",         "OBJC_INCLUDE_PATH",
                                                  "OBJCPLUS_INCLUDE_PATH"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string normal_search_path(std::string_view list) {
  if (list.empty()) return {};
  std::vector<std::string_view> kept;
  for (std::size_t begin = 0; begin <= list.size();) {
    const auto end = std::min(list.find(':', begin), list.size());
    const auto entry = end == begin ? std::string_view(".") : list.substr(begin, end - begin);
    if (std::find(kept.begin(), kept.end(), entry) == kept.end()) kept.push_back(entry);
    begin = end + 1;
  }
  std::string all;
  for (const auto entry : kept)
    all.append(all.empty() ? "" : ":").append(entry);
  return all;
}

} // namespace hearth::fingerprints
