// The bytes of one segment for one lookup: mapped if possible, else read from the file.
//
// Owner: the caller, on its stack, for one lookup. One thread.
#pragma once

#include "storage/disk/segment/segment_windows.hpp"

#include <string>

namespace hearth::storage::disk {

class segment_reader {
public:
  segment_reader(segment_windows& windows, std::uint64_t segment, std::uint64_t oldest) noexcept
      : windows_(windows)
      , segment_(segment)
      , oldest_(oldest) {}

  /// Returns bytes that stay valid as long as `scratch` and the reader; null: see `error`.
  const char* peek(std::uint64_t offset, std::uint64_t bytes, std::string& scratch) noexcept;
  /// Copies bytes out and sets `hash` to the hash of the copy. False: see `error`.
  bool copy(char* to, std::uint64_t offset, std::uint64_t bytes, std::uint64_t& hash) noexcept;
  /// The location for which the record at `where` was sealed (see `open_segment`).
  location sealed_at(location where) noexcept;
  /// Reads from the file from now on, even where the segment is mapped.
  void distrust_mapping() noexcept { from_file_ = true; }
  /// The errno of the last failure; ERANGE: the segment ends before, ENOENT: it does not exist.
  int error() const noexcept { return error_; }

private:
  const char* mapped(std::uint64_t end) noexcept;
  bool open() noexcept;
  bool read(char* to, std::uint64_t offset, std::uint64_t bytes) noexcept;

  segment_windows& windows_;
  std::uint64_t segment_;
  std::uint64_t oldest_;
  file file_;
  std::uint64_t size_ = 0;
  int error_ = 0;
  bool from_file_ = false;
};

} // namespace hearth::storage::disk
