// A batch of records for one segment: planned, then written with one write, then published.
//
// Owner: the holder of a shard's lock, for one group. Small parts are gathered in one buffer; large
// parts are written from the caller's memory.
#pragma once

#include "storage/disk/index/index_table.hpp"
#include "storage/disk/segment/record.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <string_view>
#include <sys/uio.h>
#include <vector>

namespace hearth::storage::disk {

inline constexpr std::size_t max_batch_records = 256;
inline constexpr std::uint64_t max_batch_bytes = std::uint64_t{16} << 20;

/// A small set of words, with open addressing.
class word_set {
public:
  /// For at most `max_words` words, and no more than `max_batch_records`.
  explicit word_set(std::size_t max_words = 1) noexcept
      : last_(4 * std::bit_ceil(std::min(max_words, max_batch_records)) - 1) {
    std::fill_n(cells_.begin(), last_ + 1, 0);
  }

  bool contains(std::uint64_t word) const noexcept { return cells_[cell_of(word)] == word; }
  /// `word` is not 0.
  void insert(std::uint64_t word) noexcept { cells_[cell_of(word)] = word; }

private:
  std::size_t cell_of(std::uint64_t word) const noexcept {
    auto cell = static_cast<std::size_t>(mix64(word)) & last_;
    while (cells_[cell] != 0 && cells_[cell] != word)
      cell = (cell + 1) & last_;
    return cell;
  }
  std::size_t last_; // last cell in use, one less than a power of two
  std::array<std::uint64_t, 4 * max_batch_records> cells_;
};

/// The bytes of a batch.
class gathered_bytes {
public:
  void add(const void* data, std::size_t bytes);
  void add(std::string_view bytes) { add(bytes.data(), bytes.size()); }
  void reserve(std::size_t records) { buffer_.reserve(records * typical_record_bytes); }
  void pad(std::size_t bytes) { buffer_.append(bytes, '\0'); }
  /// The parts to write, in order. Valid until the next `add`.
  std::vector<iovec> parts() const;

private:
  static constexpr std::size_t max_copied_bytes = 2048;
  static constexpr std::size_t typical_record_bytes = 768; // an estimate, for `reserve`
  struct outside {
    std::size_t after; // bytes of the buffer before this part
    const void* data;
    std::size_t bytes;
  };
  std::string buffer_;
  std::vector<outside> outside_;
};

/// A record that `publish` will make visible.
struct planned_record {
  std::size_t request = 0;
  slot* where = nullptr;
  std::uint64_t word = 0;      ///< the word to store in the slot; 0 for an erased key
  std::uint64_t old_bytes = 0; ///< size of the record that it replaces
  std::uint64_t bytes = 0;
  std::uint64_t end = 0; ///< offset in the segment
  bool replaces = false; ///< other processes may hold the replaced entry in memory
  std::uint64_t hash = 0;
  std::uint64_t sequence = 0;
};

struct append_batch {
  /// `records`: the expected number of records.
  append_batch(location start_at, std::size_t records)
      : start(start_at)
      , end(start_at.offset)
      , hashes(records)
      , slots(records) {
    items.reserve(records);
    bytes.reserve(records);
  }

  bool is_full() const noexcept {
    return items.size() >= max_batch_records || end - start.offset >= max_batch_bytes;
  }
  /// Adds a sealed header and the key, metadata and payload after it.
  void add(const record_header& header, const entry_key& key, std::string_view metadata,
           std::string_view payload);

  /// Adds a sealed header and `rest`, the bytes after the header of the copied record, padding
  /// included.
  void add_copy(const record_header& header, std::string_view rest);

  location start;
  std::uint64_t end;          ///< offset
  std::uint64_t sequence = 0; ///< sequence of the last record
  gathered_bytes bytes;
  std::vector<planned_record> items;
  word_set hashes;
  word_set slots; ///< addresses of slots that records of this batch use
};

} // namespace hearth::storage::disk
