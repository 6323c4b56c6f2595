#include "runtime/server/entries/http_keys.hpp"

#include <algorithm>
#include <array>

namespace hearth::server {

bool is_http_key(std::string_view key) noexcept {
  constexpr std::array<std::string_view, 5> marks{
      "http:ac:", "http:cas:", "http:nx:", "http:path:", "http:turbo:"};
  return std::any_of(marks.begin(), marks.end(),
                     [&](std::string_view mark) { return key.starts_with(mark); });
}

} // namespace hearth::server
