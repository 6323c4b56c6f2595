#include "messages/cache_id.hpp"

#include "messages/digest.hpp"
#include "messages/hash.hpp"

#include <algorithm>

namespace hearth {
namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

std::uint32_t tag_of(std::string_view version) {
  const auto bytes = sha256(version).bytes;
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | bytes[3];
}

std::uint64_t seed_of(std::string_view name, std::string_view version) {
  std::string both(name);
  both += '\0';
  both += version;
  return fast_hash(both);
}

} // namespace

expected<cache_id> cache_id::make(std::string_view name, std::string_view version) {
  const bool good = !name.empty() && name.size() <= max_cache_name_bytes && name[0] != '.' &&
                    std::all_of(name.begin(), name.end(), is_name_character);
  if (!good)
    return fail(errc::invalid_argument, "cache name '" + std::string(name.substr(0, 80)) +
                                            "': use 1 to 64 letters, digits, '_', '-' and '.', "
                                            "not starting with '.'");
  if (version.size() > max_cache_version_bytes)
    return fail(errc::invalid_argument, "version of cache '" + std::string(name) + "' has " +
                                            std::to_string(version.size()) +
                                            " bytes; 128 are allowed");
  return cache_id{std::make_shared<const data>(
      data{std::string(name), std::string(version), tag_of(version), seed_of(name, version)})};
}

} // namespace hearth
