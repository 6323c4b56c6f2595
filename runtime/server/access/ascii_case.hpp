// Words that mean the same in capitals: names of commands, options, headers and schemes. ASCII
// alone, whatever the locale. Any thread.
#pragma once

#include <algorithm>
#include <string_view>

namespace hearth::server {

constexpr char lower_case(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower_case(x) == lower_case(y); });
}

} // namespace hearth::server
