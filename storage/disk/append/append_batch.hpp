// A group of records on its way into a segment: planned, then written at once, then published.
//
// Owner: the holder of a shard's lock, for one group. Small parts are gathered in one buffer, large
// ones are written from where they lie.
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

/// A small set of words: open addressing.
class word_set {
public:
  /// For at most `max_words` of them, and no more than `max_batch_records`.
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
  std::size_t last_; // cell in use, one less than a power of two
  std::array<std::uint64_t, 4 * max_batch_records> cells_;
};

/// The bytes of a batch.
class gathered_bytes {
public:
  void add(const void* data, std::size_t bytes);
  void add(std::string_view bytes) { add(bytes.data(), bytes.size()); }
  void reserve(std::size_t records) { buffer_.reserve(records * typical_record_bytes); }
  void pad(std::size_t bytes) { buffer_.append(bytes, '\0'); }
  /// What to write, in order. Valid until something is added.
  std::vector<iovec> parts() const;

private:
  static constexpr std::size_t max_copied_bytes = 2048;
  static constexpr std::size_t typical_record_bytes = 768; // to reserve
  struct outside {
    std::size_t after; // bytes of the buffer that come before it
    const void* data;
    std::size_t bytes;
  };
  std::string buffer_;
  std::vector<outside> outside_;
};

/// A record that is about to be published.
struct planned_record {
  std::size_t request = 0;
  slot* where = nullptr;
  std::uint64_t word = 0;      ///< what will be stored there; 0 for an erased key
  std::uint64_t old_bytes = 0; ///< of the record that it replaces
  std::uint64_t bytes = 0;
  std::uint64_t end = 0; ///< offset in the segment
  bool replaces = false; ///< readers elsewhere may hold what it replaces
  std::uint64_t hash = 0;
  std::uint64_t sequence = 0;
};

struct append_batch {
  /// For about so many records.
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
  /// Adds a sealed header and what follows it.
  void add(const record_header& header, const entry_key& key, std::string_view metadata,
           std::string_view payload);

  /// Adds a sealed header and what followed it where it was copied from, padding included.
  void add_copy(const record_header& header, std::string_view rest);

  location start;
  std::uint64_t end;          ///< offset
  std::uint64_t sequence = 0; ///< of the last record
  gathered_bytes bytes;
  std::vector<planned_record> items;
  word_set hashes;
  word_set slots; ///< addresses of slots that are spoken for
};

} // namespace hearth::storage::disk
