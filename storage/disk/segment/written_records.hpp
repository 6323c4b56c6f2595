// Remembers the records that this process appended to segments without a table, so that their
// tables, and a larger index, are made without reading the segments again.
//
// Owner: the holder of a shard's lock. It is a cache only: records that it does not remember are
// read.
#pragma once

#include "storage/disk/format.hpp"

#include <cstddef>
#include <map>
#include <vector>

namespace hearth::storage::disk {

/// The limit for reading a segment to its end.
inline constexpr std::uint64_t no_limit = ~std::uint64_t{0};

class written_records {
public:
  /// Notes that this process made the segment, which has no record yet.
  void begin(std::uint64_t segment);
  /// Notes a value or a tombstone appended from `start` to `end`. Forgets the segment when another
  /// process's record lies before `start`.
  void append(location start, std::uint64_t end, std::uint64_t hash, std::uint64_t sequence,
              record_kind kind);
  /// Notes that this process ended the segment: its records end at `end`.
  void seal(location end);
  /// Forgets the segments below this one.
  void drop_below(std::uint64_t segment);
  void clear() noexcept {
    segments_.clear();
    count_ = 0;
  }

  /// All records of a segment that this process sealed, or that ends at `tail`. Null: not known.
  const std::vector<table_entry>* find(std::uint64_t segment, location tail) const noexcept;
  /// Removes and returns the records of a sealed segment. Empty: not known.
  std::vector<table_entry> take(std::uint64_t segment);

private:
  struct records {
    std::uint64_t end = first_record_offset;
    bool sealed = false;
    std::vector<table_entry> entries;
  };
  void bound();

  std::map<std::uint64_t, records> segments_;
  std::size_t count_ = 0; // number of entries of all segments
};

/// The line of a segment's table for a record from `start` to `end`.
constexpr table_entry table_entry_of(std::uint64_t hash, std::uint64_t sequence,
                                     std::uint64_t start, std::uint64_t end,
                                     record_kind kind) noexcept {
  return {hash, sequence,
          start / unit_bytes | ((end - start) / unit_bytes) << 32 |
              static_cast<std::uint64_t>(kind) << 56};
}
/// Start and size of a line's record.
constexpr std::uint64_t offset_of(const table_entry& entry) noexcept {
  return (entry.place & 0xffffffff) * unit_bytes;
}
constexpr std::uint64_t bytes_of(const table_entry& entry) noexcept {
  return (entry.place >> 32 & 0xffffff) * unit_bytes;
}

} // namespace hearth::storage::disk
