// The bytes of a store: every constant and structure of the format, version 1. docs/store-format.md
// explains them; no other file of the code has a constant of the format.
//
// Plain values and pure functions, any thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace hearth::storage::disk {

static_assert(std::endian::native == std::endian::little, "a store is little-endian");

inline constexpr std::uint32_t format_version = 1;

/// Records start at multiples of this size.
inline constexpr std::uint64_t unit_bytes = 16;
inline constexpr unsigned offset_bits = 22;
inline constexpr unsigned segment_bits = 24;
inline constexpr unsigned tag_bits = 17;
inline constexpr std::uint64_t max_segment = (std::uint64_t{1} << segment_bits) - 1;
/// Largest segment: offsets count units in 22 bits.
inline constexpr std::uint64_t max_segment_bytes = unit_bytes << offset_bits;
/// The byte of a head on which a process that evicts holds a lock.
inline constexpr std::uint64_t evictor_byte = 0;
/// Smallest segment that a store may be made with (only tests go below 1 MiB).
inline constexpr std::uint64_t min_segment_bytes = std::uint64_t{64} << 10;

constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t to) noexcept {
  return (bytes + to - 1) / to * to;
}

/// Segment number and byte offset of a record.
struct location {
  std::uint64_t segment = 0;
  std::uint64_t offset = 0;

  /// 46 bits: segment, then offset in units.
  constexpr std::uint64_t packed() const noexcept {
    return segment << offset_bits | offset / unit_bytes;
  }
  static constexpr location unpack(std::uint64_t word) noexcept {
    return {word >> offset_bits & max_segment,
            (word & ((std::uint64_t{1} << offset_bits) - 1)) * unit_bytes};
  }
  friend constexpr bool operator==(const location&, const location&) = default;
};

// A slot of the index: hit bit, tag, location; 0 is empty.
inline constexpr std::uint64_t hit_bit = std::uint64_t{1} << 63;
inline constexpr unsigned slots_per_bucket = 8; ///< one cache line

constexpr std::uint64_t tag_of(std::uint64_t hash) noexcept {
  return hash & ((std::uint64_t{1} << tag_bits) - 1);
}
constexpr std::uint64_t make_slot(std::uint64_t hash, location where) noexcept {
  return tag_of(hash) << (segment_bits + offset_bits) | where.packed();
}
constexpr std::uint64_t slot_tag(std::uint64_t slot) noexcept {
  return (slot & ~hit_bit) >> (segment_bits + offset_bits);
}
constexpr location slot_location(std::uint64_t slot) noexcept { return location::unpack(slot); }
constexpr std::uint64_t slot_segment(std::uint64_t slot) noexcept {
  return slot >> offset_bits & max_segment;
}
/// The two buckets of a hash, from its bits 63 down and 39 down; the tag is bits 16 to 0.
constexpr std::uint64_t first_bucket(std::uint64_t hash, std::uint64_t buckets) noexcept {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<wide>(hash) * buckets >> 64);
}
constexpr std::uint64_t second_bucket(std::uint64_t hash, std::uint64_t buckets) noexcept {
  return first_bucket(hash << 24, buckets);
}
/// The shard of a hash, from its bits above the tag.
constexpr unsigned shard_of_hash(std::uint64_t hash, unsigned shards) noexcept {
  return static_cast<unsigned>((hash >> tag_bits & 0xffff) % shards);
}

/// splitmix64's finaliser: the term of one slot in the checksum of its index.
constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ x >> 31;
}
constexpr std::uint64_t slot_sum(std::uint64_t slot, std::uint64_t position) noexcept {
  const auto bare = slot & ~hit_bit;
  return bare ? mix64(bare ^ (position + 1) * 0x9e3779b97f4a7c15ULL) : 0;
}

inline constexpr std::uint32_t record_magic = 0x63655248; // "HRec"

enum class record_kind : std::uint8_t {
  value = 1,
  tombstone = 2, ///< the key was erased
  table = 3,     ///< the list of a sealed segment's records
  hole = 4,      ///< the bytes between `hash` (an offset) and this record were never acknowledged
};

enum class codec : std::uint8_t { raw = 0, zstd = 1 };

/// The header of every record. Cache name, version, key, metadata and payload follow without gaps.
struct record_header {
  std::uint32_t magic = record_magic;
  std::uint8_t format = format_version;
  record_kind kind = record_kind::value;
  codec coding = codec::raw;
  std::uint8_t name_bytes = 0;
  std::uint8_t version_bytes = 0;
  std::uint8_t zero = 0;
  std::uint16_t key_bytes = 0;
  std::uint32_t metadata_bytes = 0;
  std::uint64_t payload_bytes = 0; ///< size as the caller gave it
  std::uint64_t stored_bytes = 0;  ///< size as stored
  std::uint64_t sequence = 0;      ///< number in the shard; a key's record with the highest counts
  std::uint64_t hash = 0;          ///< hash of the key, seeded with its cache
  std::int64_t expires_unix_ms = 0;
  std::uint64_t identity_sum = 0; ///< XXH3 of name, version and key
  std::uint64_t metadata_sum = 0; ///< XXH3 of the metadata
  std::uint64_t payload_sum = 0;  ///< XXH3 of the payload as stored
  std::uint64_t header_sum = 0;   ///< XXH3 of all above, seeded with store, segment and offset

  std::uint64_t identity_bytes() const noexcept {
    return std::uint64_t{name_bytes} + version_bytes + key_bytes;
  }
};
static_assert(sizeof(record_header) == 88);

/// One line of a sealed segment's table.
struct table_entry {
  std::uint64_t hash;
  std::uint64_t sequence;
  std::uint64_t place; ///< offset in units (32 bits), size in units (24), kind (8)
};
static_assert(sizeof(table_entry) == 24);

inline constexpr std::uint64_t table_footer_magic = 0x6c62615474726548; // "HertTabl"

/// The last 16 bytes of a sealed segment.
struct table_footer {
  std::uint64_t magic = table_footer_magic;
  std::uint64_t table_offset = 0;
};

inline constexpr std::uint64_t segment_magic = 0x6765537472616548; // "HeartSeg"

/// The first 64 bytes of a segment file.
struct segment_header {
  std::uint64_t magic = segment_magic;
  std::uint32_t format = format_version;
  std::uint32_t shard = 0;
  std::uint64_t store_id = 0;
  std::uint64_t segment = 0;
  std::uint64_t large = 0; ///< 1: one record, larger than a segment may hold
  std::uint64_t zero[2] = {};
  std::uint64_t sum = 0; ///< XXH3 of all above
};
static_assert(sizeof(segment_header) == 64);
inline constexpr std::uint64_t first_record_offset = sizeof(segment_header);

inline constexpr std::uint64_t index_magic = 0x786469742d726548; // "Her-tidx"

/// The first 64 bytes of an index file; slots follow.
struct index_header {
  std::uint64_t magic = index_magic;
  std::uint64_t store_id = 0;
  std::uint64_t generation = 0;
  std::uint64_t buckets = 0;
  std::uint64_t zero[3] = {};
  std::uint64_t sum = 0; ///< XXH3 of all above
};
static_assert(sizeof(index_header) == 64);

inline constexpr std::uint64_t store_magic = 0x726f747374726148; // "Hartstor"
inline constexpr std::uint64_t description_copies = 4;           ///< one every 1,024 bytes
inline constexpr std::uint64_t page_bytes = 4096;

/// The content of the file `store`, which holds four copies of it.
struct store_description {
  std::uint64_t magic = store_magic;
  std::uint32_t format = format_version;
  std::uint32_t shards = 0;
  std::uint64_t store_id = 0;
  std::uint64_t segment_bytes = 0;
  std::uint64_t zero[3] = {};
  std::uint64_t sum = 0; ///< XXH3 of all above
};
static_assert(sizeof(store_description) == 64);

} // namespace hearth::storage::disk
