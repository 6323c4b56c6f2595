#include "runtime/server/entries/scan_cursor.hpp"

namespace hearth::server {
namespace {

// From the lowest bit: bucket, generation, shard, and a bit that is always set.
constexpr unsigned bucket_bits = 37;
constexpr unsigned generation_bits = 16;
constexpr unsigned shard_bits = 9; // those of the store, then those of memory
constexpr std::uint64_t mark = std::uint64_t{1} << (bucket_bits + generation_bits + shard_bits);

constexpr std::uint64_t lowest(std::uint64_t number, unsigned bits) {
  return number & ((std::uint64_t{1} << bits) - 1);
}

} // namespace

std::uint64_t cursor_of(const storage::scan_place& place) noexcept {
  return mark | std::uint64_t{place.shard} << (bucket_bits + generation_bits) |
         std::uint64_t{place.generation} << bucket_bits | lowest(place.bucket, bucket_bits);
}

std::optional<storage::scan_place> place_of(std::uint64_t cursor) noexcept {
  if (cursor == 0) return storage::scan_place{};
  if ((cursor & mark) == 0 || cursor >= 2 * mark) return std::nullopt;
  return storage::scan_place{
      static_cast<unsigned>(lowest(cursor >> (bucket_bits + generation_bits), shard_bits)),
      static_cast<std::uint16_t>(lowest(cursor >> bucket_bits, generation_bits)),
      lowest(cursor, bucket_bits)};
}

} // namespace hearth::server
