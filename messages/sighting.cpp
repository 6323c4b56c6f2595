#include "messages/sighting.hpp"

#include <utility>

namespace hearth {
namespace {

// Bits of the byte of flags, which is never NUL.
constexpr unsigned mark = 0x40;
constexpr unsigned follows = 1;
constexpr unsigned was_there = 2;
constexpr unsigned was_listed = 4;

} // namespace

void append_sighting(std::string& to, const sighting& seen) {
  to += static_cast<char>(mark | (seen.follows ? follows : 0) | (seen.was_there ? was_there : 0) |
                          (seen.was_listed ? was_listed : 0));
  to += seen.path;
  to += '\0';
}

expected<std::vector<sighting>> read_sightings(std::string_view bytes) {
  std::vector<sighting> all;
  while (!bytes.empty()) {
    const auto end = bytes.find('\0');
    const auto flags = static_cast<unsigned char>(bytes.front());
    if (end == bytes.npos || end < 2 || bytes[1] != '/' || (flags & ~7U) != mark)
      return fail(errc::malformed, "the report of what a program has looked at");
    all.push_back({std::string(bytes.substr(1, end - 1)), (flags & follows) != 0,
                   (flags & was_there) != 0, (flags & was_listed) != 0});
    bytes.remove_prefix(end + 1);
  }
  return all;
}

} // namespace hearth
