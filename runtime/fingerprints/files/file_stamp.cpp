#include "runtime/fingerprints/files/file_stamp.hpp"

#include <algorithm>
#include <ctime>
#include <string_view>
#include <utility>

namespace hearth::fingerprints {
namespace {

void put(std::string& to, std::int64_t number) {
  for (int shift = 0; shift < 64; shift += 8)
    to += static_cast<char>(static_cast<std::uint64_t>(number) >> shift);
}

std::int64_t get(std::string_view from) {
  std::uint64_t number = 0;
  for (int i = 7; i >= 0; --i)
    number = (number << 8) | static_cast<std::uint8_t>(from[static_cast<std::size_t>(i)]);
  return static_cast<std::int64_t>(number);
}

// Six little-endian numbers of eight bytes, and one byte. The earlier form lacks the mount.
constexpr std::size_t packed_stamp_bytes = 49;
constexpr std::size_t packed_without_mount = packed_stamp_bytes - 8;
constexpr std::size_t packed_content_bytes = packed_stamp_bytes + 1 + sizeof(digest::bytes);

std::string pack(const file_stamp& stamp) {
  std::string bytes;
  for (const auto number :
       {static_cast<std::int64_t>(stamp.mount), static_cast<std::int64_t>(stamp.device),
        static_cast<std::int64_t>(stamp.inode), stamp.size, stamp.mtime_ns, stamp.ctime_ns})
    put(bytes, number);
  bytes += stamp.is_directory ? '\1' : '\0';
  return bytes;
}

std::optional<file_stamp> unpack_stamp(std::string_view bytes) {
  if (bytes.size() != packed_stamp_bytes && bytes.size() != packed_without_mount)
    return std::nullopt;
  if (static_cast<unsigned char>(bytes.back()) > 1) return std::nullopt;
  file_stamp stamp;
  if (bytes.size() == packed_stamp_bytes) {
    stamp.mount = static_cast<std::uint64_t>(get(bytes));
    bytes.remove_prefix(8);
  }
  stamp.device = static_cast<std::uint64_t>(get(bytes));
  stamp.inode = static_cast<std::uint64_t>(get(bytes.substr(8)));
  stamp.size = get(bytes.substr(16));
  stamp.mtime_ns = get(bytes.substr(24));
  stamp.ctime_ns = get(bytes.substr(32));
  stamp.is_directory = bytes.back() == '\1';
  return stamp;
}

} // namespace

std::int64_t file_clock_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now); // the clock of the kernel's file times
  return nanoseconds(now);
}

bool is_reliable(const file_stamp& stamp, std::int64_t at_ns) {
  return std::max(stamp.mtime_ns, stamp.ctime_ns) < at_ns - racy_window_ns;
}

value to_value(const file_stamp& stamp) { return binary{pack(stamp)}; }

value to_value(const file_content& content) {
  auto bytes = pack(content.stamp);
  bytes += content.reliable ? '\1' : '\0';
  bytes += content.content.view();
  return binary{std::move(bytes)};
}

std::optional<file_stamp> read_stamp(const value& from) {
  const auto* packed = from.as<binary>();
  return packed ? unpack_stamp(packed->bytes) : std::nullopt;
}

std::optional<file_content> read_content(const value& from) {
  const auto* packed = from.as<binary>();
  if (!packed) return std::nullopt;
  const std::string_view bytes = packed->bytes;
  const auto stamp_bytes =
      bytes.size() == packed_content_bytes ? packed_stamp_bytes : packed_without_mount;
  if (bytes.size() <= stamp_bytes) return std::nullopt;
  const auto stamp = unpack_stamp(bytes.substr(0, stamp_bytes));
  const auto sum = digest::of_bytes(bytes.substr(stamp_bytes + 1));
  if (!stamp || !sum) return std::nullopt;
  file_content content;
  content.stamp = *stamp;
  content.reliable = bytes[stamp_bytes] == '\1';
  content.content = *sum;
  return content;
}

} // namespace hearth::fingerprints
