// Reads a segment from end to end, record by record. For rebuilding the index, evicting and
// verifying.
//
// Owner: the caller, on its stack; one thread. It reads the file and does not map it; a segment
// that shrinks or is removed meanwhile ends the scan.
#pragma once

#include "storage/disk/segment/record.hpp"
#include "storage/disk/segment/segment_file.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hearth::storage::disk {

class segment_scan {
public:
  segment_scan(const segment_place& place, std::uint64_t segment);

  /// 0, or the errno of opening or reading it.
  int error() const noexcept { return error_; }
  std::uint64_t size() const noexcept { return size_; }
  /// Whether this is the segment of one large value. False when its header is damaged.
  bool is_large() const;
  /// Whether its header is damaged or cut short; false when the file cannot be opened or read.
  bool has_bad_header() const;
  /// Restricts the scan to offsets from `from` to below `offset`.
  void limit(std::uint64_t from, std::uint64_t offset) noexcept;

  /// The next record whose header is right; false at the end.
  bool next(record_header& header, location& where);
  /// Name, version and key of that record; empty when they could not be read or are damaged.
  std::string identity(const record_header& header, location where);
  /// Whether the sums of identity, metadata and payload are right.
  bool is_intact(const record_header& header, location where);
  /// The whole record at this place, padding included; empty when it is damaged or cannot be read.
  std::string read_intact(location where);
  /// Whether a range without records is a table whose writer was killed.
  bool is_unfinished_table(std::uint64_t begin, std::uint64_t end);
  /// Ranges of offsets, not all zero, in which no record was found.
  const std::vector<std::pair<std::uint64_t, std::uint64_t>>& damage() const noexcept {
    return damage_;
  }

private:
  const char* bytes_at(std::uint64_t offset, std::size_t bytes);
  bool hash_range(std::uint64_t offset, std::uint64_t bytes, std::uint64_t& hash);
  void note_damage(std::uint64_t begin, std::uint64_t end);

  segment_place place_;
  std::uint64_t segment_;
  std::uint64_t size_ = 0; // set when the file is opened
  std::uint64_t sealed_as_ = 0;
  file file_;
  std::uint64_t end_ = 0;
  std::uint64_t position_ = first_record_offset;
  std::uint64_t record_end_ = 0; // end of the last record found
  std::string buffer_;
  std::uint64_t buffer_start_ = 0;
  int error_ = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> damage_;
};

} // namespace hearth::storage::disk
