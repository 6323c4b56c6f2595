// Looks entries up: finds a key's slot, verifies the record that it points at, and copies the
// value.
//
// Owner: a shard. Any thread, in a forked child too; it takes no lock. A segment may be evicted, a
// window mapped over and the index grown during a read: the reader repeats a read whose sums do not
// fit, and counts damage only when nothing has changed meanwhile.
#pragma once

#include "storage/disk/files/shard_files.hpp"
#include "storage/disk/segment/record.hpp"
#include "storage/disk/segment/segment_reader.hpp"
#include "storage/disk/store.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace hearth::storage::disk {

/// How a slot's record relates to a key.
enum class entry_match {
  match,
  other,      ///< another key's record
  bad,        ///< a sum or a length is wrong
  unreadable, ///< no descriptor or no memory: the result is unknown
};

class entry_reader {
public:
  explicit entry_reader(shard_files& files) noexcept
      : files_(files)
      , head_(files.head)
      , index_(files.index)
      , windows_(files.windows)
      , counts_(files.counts)
      , store_id_(files.config.store_id) {}

  /// Looks a key up. Copies the bytes out and verifies them.
  read_result get(const entry_key& key);
  /// Sets the hit bit of an entry, without reading it.
  void touch(const entry_key& key) noexcept;

  /// Reads the record that the slot's `word` points at, the value too if `out` is given. `oldest`:
  /// the head's word of that name, loaded before the slot was read. `error`: the errno, if any.
  entry_match read(std::uint64_t word, const entry_key& key, std::uint64_t oldest,
                   record_header& header, artifact* out, int* error = nullptr) noexcept;
  /// Whether a slot still holds the same entry, hit or not, and the entry still counts.
  bool is_unchanged(const index_table& index, const slot& one, std::uint64_t word) const noexcept;

private:
  entry_match read_header(segment_reader& from, location where, const entry_key& key,
                          record_header& header, std::string& scratch) noexcept;
  entry_match read_value(segment_reader& from, location where, const record_header& header,
                         artifact& out) noexcept;
  std::optional<read_result> try_get(const entry_key& key, index_table& index);
  read_result found(slot& one, std::uint64_t word, const record_header& header, artifact value);
  read_result drop_corrupt(slot& one, std::uint64_t word) noexcept;

  shard_files& files_;
  // Copies from the files, to save indirections: a hit costs about 1,600 instructions.
  const head_page head_;
  index_generations& index_;
  segment_windows& windows_;
  counters& counts_;
  const std::uint64_t store_id_;
  // The entries that a reader has reported as corrupt but cannot drop.
  std::array<std::atomic<std::uint64_t>, 64> reported_{};
};

} // namespace hearth::storage::disk
