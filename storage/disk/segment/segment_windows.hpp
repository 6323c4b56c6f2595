// The address ranges where segments are mapped for reading.
//
// Owner: a shard. Any thread; there is no lock, so that a forked child can go on reading. A window
// is an address range that stays while the store is open: when its segment has been evicted,
// another segment is mapped over it. A slow reader of the old segment then copies bytes whose
// checksum fails, and retries. A reader does not wait for a window that is being mapped, or that
// belongs to another live segment: it reads the bytes from the file instead.
#pragma once

#include "storage/disk/segment/segment_file.hpp"

#include <atomic>
#include <cstdint>
#include <memory>

namespace hearth::storage::disk {

class segment_windows {
public:
  segment_windows(segment_place place, std::size_t windows);
  segment_windows(const segment_windows&) = delete;
  segment_windows& operator=(const segment_windows&) = delete;
  ~segment_windows();

  /// The segment's first byte, when its bytes up to `end` are mapped; else null: `error` is 0 when
  /// the caller has to read the file, ERANGE when the file ends before, or another errno.
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
  /// How much of a record is prefetched: all of a small one, so that it arrives at once, instead of
  /// its header first and the rest when its length is known; or its header with a short key.
  static constexpr std::uint64_t small_record_bytes = 640;
  static constexpr std::uint64_t header_bytes = 128;
  /// Prefetches the start of a record, if its segment is mapped.
  void prefetch(std::uint64_t segment, std::uint64_t offset,
                std::uint64_t bytes = small_record_bytes) const noexcept {
    constexpr std::uint64_t line_bytes = 64;
    const auto& one = windows_[segment % count_];
    if (one.state.load(std::memory_order_acquire) != segment) return;
    const char* start = one.base.load(std::memory_order_relaxed) + offset;
    for (std::uint64_t at = 0; at < bytes; at += line_bytes)
      __builtin_prefetch(start + at);
  }
  const segment_place& place() const noexcept { return place_; }

private:
  struct window {
    std::atomic<std::uint64_t> state{0}; // segment number, and `busy` while it is being mapped
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

} // namespace hearth::storage::disk
