// Where segments are mapped for reading, and how their bytes are read when they are not.
//
// Owner: a shard. Any thread; there is no lock, so a forked child can go on reading. A window is an
// address range that never goes away while the store is open: when its segment has been evicted,
// the next one is mapped over it. A slow reader of the old one then copies bytes whose checksum
// fails, and looks again. A window that is being mapped, or belongs to another live segment, is not
// waited for: the bytes are read from the file instead.
#pragma once

#include "storage/disk/file_system.hpp"
#include "storage/disk/format.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace hearth::storage::disk {

/// "000017.seg"
std::string segment_name(std::uint64_t segment);
/// The number in such a name; 0: it is none.
std::uint64_t segment_number(const std::string& name) noexcept;

/// What a window needs to know of its shard.
struct segment_place {
  file_system* files;
  int directory;
  std::uint64_t store_id;
  std::uint64_t segment_bytes;
};

/// Opens a segment for reading. Its header may be damaged: each record is bound to its place by its
/// own sum. `sealed_as`: the number with which its records were sealed, which is another one when a
/// large value was kept by eviction.
file open_segment(const segment_place& place, std::uint64_t segment, std::uint64_t& size,
                  std::uint64_t* sealed_as = nullptr);
/// Reads a segment's header. EBADMSG: it is damaged, or not this store's; else 0 or an errno.
int read_segment_header(const segment_place& place, const file& from, std::uint64_t segment,
                        segment_header& header);

class segment_windows {
public:
  segment_windows(segment_place place, std::size_t windows);
  segment_windows(const segment_windows&) = delete;
  segment_windows& operator=(const segment_windows&) = delete;
  ~segment_windows();

  /// The segment's first byte, when its bytes up to `end` are mapped; else null: `error` is 0 when
  /// they are to be read from the file, ERANGE when the file ends before, or what went wrong.
  const char* find(std::uint64_t segment, std::uint64_t end, std::uint64_t oldest,
                   int& error) noexcept {
    auto& one = windows_[segment % count_];
    if (one.state.load(std::memory_order_acquire) == segment &&
        end <= one.size.load(std::memory_order_relaxed)) [[likely]] {
      error = 0;
      return one.base.load(std::memory_order_relaxed);
    }
    return find_slowly(one, segment, end, oldest, error);
  }
  /// Asks for the start of a record, if its segment is mapped: all of a small one comes at once
  /// then, instead of its header first and the rest when its length is known.
  void prefetch(std::uint64_t segment, std::uint64_t offset) const noexcept {
    constexpr std::uint64_t line_bytes = 64;
    constexpr std::uint64_t small_record_bytes = 10 * line_bytes;
    const auto& one = windows_[segment % count_];
    if (one.state.load(std::memory_order_acquire) != segment) return;
    const char* start = one.base.load(std::memory_order_relaxed) + offset;
    for (std::uint64_t at = 0; at < small_record_bytes; at += line_bytes)
      __builtin_prefetch(start + at);
  }
  const segment_place& place() const noexcept { return place_; }

private:
  struct window {
    std::atomic<std::uint64_t> state{0}; // the segment, and `busy` while it is being mapped
    std::atomic<std::uint64_t> size{0};  // bytes that may be read
    std::atomic<char*> base{nullptr};
  };
  static constexpr std::uint64_t busy = std::uint64_t{1} << 63;

  const char* find_slowly(window& one, std::uint64_t segment, std::uint64_t end,
                          std::uint64_t oldest, int& error) noexcept;
  int map(window& one, std::uint64_t segment) noexcept;
  int refresh_size(window& one, std::uint64_t segment) noexcept;

  segment_place place_;
  std::size_t count_;
  std::unique_ptr<window[]> windows_;
};

/// The bytes of one segment for one reading: mapped if that is possible, else read from the file.
class segment_reader {
public:
  segment_reader(segment_windows& windows, std::uint64_t segment, std::uint64_t oldest) noexcept
      : windows_(windows)
      , segment_(segment)
      , oldest_(oldest) {}

  /// Bytes that stay as long as `scratch` and the reader do; null: see `error`.
  const char* peek(std::uint64_t offset, std::uint64_t bytes, std::string& scratch) noexcept;
  /// Copies bytes out and returns the hash of what was copied. False: see `error`.
  bool copy(char* to, std::uint64_t offset, std::uint64_t bytes, std::uint64_t& hash) noexcept;
  /// The location for which the record at `where` was sealed (see `open_segment`).
  location sealed_at(location where) noexcept;
  /// Reads from the file from now on, whatever is mapped.
  void distrust_mapping() noexcept { from_file_ = true; }
  /// The errno of what failed last; ERANGE: the segment ends before, ENOENT: there is none.
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
