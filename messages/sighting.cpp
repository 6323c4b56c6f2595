#include "messages/sighting.hpp"

#include <algorithm>
#include <cstring>

namespace hearth {
namespace {

// Bits of the byte of flags, which is never NUL.
enum : unsigned {
  follows = 1,
  from_scratch = 2,
  was_there = 4,
  was_listed = 8,
  was_run = 16,
  told_place = 32,
  is_shown = 128,
  all_flags = 191,
  always_set = 64,
};
constexpr char end_mark = '.';

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
  if (end == from.npos || end < 2 || from[1] != '/' || (flags & ~all_flags) != always_set)
    return false;
  one.path = from.substr(1, end - 1);
  one.follows = (flags & follows) != 0;
  one.from_scratch = (flags & from_scratch) != 0;
  one.was_there = (flags & was_there) != 0;
  one.was_listed = (flags & was_listed) != 0;
  one.was_run = (flags & was_run) != 0;
  one.told_place = (flags & told_place) != 0;
  one.is_shown = (flags & is_shown) != 0;
  from.remove_prefix(end + 1);
  if (!take_number(from, one.base) || one.base > one.path.size()) return false;
  return !one.was_there || (take_number(from, one.device) && take_number(from, one.inode));
}

void append(std::string& to, const sighting& seen) {
  to += static_cast<char>(always_set | (seen.follows ? follows : 0U) |
                          (seen.from_scratch ? from_scratch : 0U) |
                          (seen.was_there ? was_there : 0U) | (seen.was_listed ? was_listed : 0U) |
                          (seen.was_run ? was_run : 0U) | (seen.told_place ? told_place : 0U) |
                          (seen.is_shown ? is_shown : 0U));
  to += seen.path;
  to += '\0';
  append_number(to, seen.base);
  if (!seen.was_there) return;
  append_number(to, seen.device);
  append_number(to, seen.inode);
}

} // namespace

std::vector<std::string> reversed_components(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    const auto part = path.substr(0, end);
    if (!part.empty() && part != ".") parts.emplace_back(part);
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::string encode_sightings(const std::vector<sighting>& all) {
  std::string bytes;
  for (const auto& one : all)
    append(bytes, one);
  return bytes += end_mark;
}

expected<std::vector<sighting>> read_sightings(std::string_view bytes) {
  std::vector<sighting> all;
  while (!bytes.empty()) {
    if (bytes == std::string_view(&end_mark, 1)) return all;
    if (!take(bytes, all.emplace_back())) break;
  }
  return fail(errc::malformed, "the report of what a program has looked at");
}

} // namespace hearth
