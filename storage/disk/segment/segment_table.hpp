// The table at the end of a sealed segment: a line for each of its records, so that the index can
// be grown or rebuilt without reading the records.
//
// Free functions; any thread. Two processes that write the table of one segment write the same
// bytes.
#pragma once

#include "storage/disk/segment/segment_file.hpp"
#include "storage/disk/segment/written_records.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace hearth::storage::disk {

/// A record's place and properties, without its bytes.
struct entry_place {
  std::uint64_t hash = 0;
  std::uint64_t sequence = 0;
  location where{};
  std::uint64_t bytes = 0; ///< size of the record
  record_kind kind = record_kind::value;
};

/// Reads the table of a sealed segment. False when it has none, or a damaged one.
bool read_table(const segment_place& place, std::uint64_t segment, std::vector<table_entry>& out);

/// Writes the table of a segment that is not appended to any more: its records end where the file
/// ends. `entries`: its lines, if they are known; else it reads them. Two processes that do so at
/// once write the same bytes. Returns 0 or an errno.
int write_table(const segment_place& place, std::uint64_t segment,
                std::vector<table_entry> entries = {});

/// Calls `visit` for each value and tombstone below `limit` of a segment, from its table if it has
/// one. Returns 0 or an errno.
int for_each_entry(const segment_place& place, std::uint64_t segment, std::uint64_t limit,
                   const std::function<void(const entry_place&)>& visit);

} // namespace hearth::storage::disk
