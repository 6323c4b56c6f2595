#include "messages/sighting.hpp"

#include <cstring>
#include <utility>

namespace hearth {
namespace {

// Bits of the byte of flags, which is never NUL.
enum : unsigned {
  follows = 1,
  was_relative = 2,
  was_there = 4,
  was_listed = 8,
  was_run = 16,
  all_flags = 31,
  mark = 0x40,
};

void append_number(std::string& to, std::uint64_t number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}

bool take_number(std::string_view& from, std::uint64_t& number) {
  if (from.size() < sizeof number) return false;
  std::memcpy(&number, from.data(), sizeof number);
  from.remove_prefix(sizeof number);
  return true;
}

// Takes one sighting off the front.
bool take(std::string_view& from, sighting& one) {
  const auto end = from.find('\0');
  const auto flags = static_cast<unsigned char>(from.front());
  if (end == from.npos || end < 2 || from[1] != '/' || (flags & ~all_flags) != mark) return false;
  one = {std::string(from.substr(1, end - 1)),
         (flags & follows) != 0,
         (flags & was_relative) != 0,
         (flags & was_there) != 0,
         (flags & was_listed) != 0,
         (flags & was_run) != 0};
  from.remove_prefix(end + 1);
  return !one.was_there || (take_number(from, one.device) && take_number(from, one.inode));
}

} // namespace

void append_sighting(std::string& to, const sighting& seen) {
  to += static_cast<char>(mark | (seen.follows ? follows : 0U) |
                          (seen.was_relative ? was_relative : 0U) |
                          (seen.was_there ? was_there : 0U) | (seen.was_listed ? was_listed : 0U) |
                          (seen.was_run ? was_run : 0U));
  to += seen.path;
  to += '\0';
  if (!seen.was_there) return;
  append_number(to, seen.device);
  append_number(to, seen.inode);
}

expected<std::vector<sighting>> read_sightings(std::string_view bytes) {
  std::vector<sighting> all;
  while (!bytes.empty())
    if (!take(bytes, all.emplace_back()))
      return fail(errc::malformed, "the report of what a program has looked at");
  return all;
}

} // namespace hearth
