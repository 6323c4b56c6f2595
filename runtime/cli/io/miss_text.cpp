#include "runtime/cli/io/miss_text.hpp"

#include "runtime/cli/io/output.hpp"

namespace hearth::cli {

std::string miss_text(std::string_view what, const std::vector<std::string>& lines) {
  auto text = std::string(what);
  if (lines.empty()) return text + ": not found; nothing earlier is known to compare it with\n";
  text += ": not found; otherwise than before:\n";
  for (const auto& line : lines)
    text += "  " + printable(line) + "\n";
  return text;
}

} // namespace hearth::cli
