#include "runtime/orchestrator/plan_place.hpp"

#include "messages/hex.hpp"

namespace hearth::orchestrator {
namespace {

void append_in_one_line(std::string& line, std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f)
      line += c;
    else
      append_hex_escape(line, c);
  }
}

} // namespace

error plan_error(const std::string& path, const plan_place& place, errc code,
                 std::string_view what) {
  std::string line;
  append_in_one_line(line, path);
  if (place.line != 0) line += ":" + std::to_string(place.line);
  line += ": ";
  if (!place.key.empty()) {
    append_in_one_line(line, place.key);
    line += ": ";
  }
  append_in_one_line(line, what);
  return {code, std::move(line)};
}

} // namespace hearth::orchestrator
