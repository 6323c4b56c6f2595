#include "runtime/process/last_line.hpp"

#include <algorithm>

namespace hearth::process {

std::string last_line(std::string_view output) {
  constexpr std::size_t longest = 200;
  constexpr std::string_view blank = " \t\r\n";
  const auto end = output.find_last_not_of(blank);
  if (end == output.npos) return {};
  output = output.substr(0, end + 1);
  const auto before = output.find_last_of("\r\n");
  if (before != output.npos) output.remove_prefix(before + 1);
  std::string line(output.substr(0, longest));
  std::ranges::replace_if(
      line, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, ' ');
  return line;
}

} // namespace hearth::process
