#include "storage/disk/segment/segment_windows.hpp"

#include <algorithm>

namespace hearth::storage::disk {

segment_windows::segment_windows(segment_place place, std::size_t windows)
    : place_(place)
    , count_(windows)
    , windows_(std::make_unique<window[]>(windows)) {}

segment_windows::~segment_windows() {
  for (std::size_t i = 0; i < count_; ++i)
    if (char* base = windows_[i].base.load()) {
      unguard_range(base);
      place_.files->unmap(base, place_.segment_bytes);
    }
}

const char* segment_windows::find_slowly(window& one, std::uint64_t segment, std::uint64_t end,
                                         std::uint64_t oldest, int& error) noexcept {
  error = 0;
  auto state = one.state.load(std::memory_order_acquire);
  if (state != segment) {
    const bool taken = (state & busy) || (state != 0 && state >= oldest);
    if (taken || !one.state.compare_exchange_strong(state, segment | busy)) return nullptr;
    error = map(one, segment);
    one.state.store(error ? 0 : segment, std::memory_order_release);
  } else {
    error = refresh_size(one, segment);
  }
  if (error) return nullptr;
  if (end <= one.size.load(std::memory_order_relaxed))
    return one.base.load(std::memory_order_relaxed);
  error = end <= place_.segment_bytes ? ERANGE : 0;
  return nullptr;
}

int segment_windows::map(window& one, std::uint64_t segment) noexcept {
  auto& files = *place_.files;
  std::uint64_t size = 0;
  const file opened = open_segment(place_, segment, size);
  if (!opened) return opened.error();
  int error = 0;
  char* base = one.base.load(std::memory_order_relaxed);
  if (!base) {
    base = static_cast<char*>(files.reserve(place_.segment_bytes, error));
    if (!base) return error;
    guard_range(base, place_.segment_bytes);
    one.base.store(base, std::memory_order_relaxed);
  }
  one.size.store(std::min(size, place_.segment_bytes), std::memory_order_relaxed);
  return files.map(opened.get(), place_.segment_bytes, false, base, error) ? 0 : error;
}

int segment_windows::refresh_size(window& one, std::uint64_t segment) noexcept {
  struct stat about {};
  const int stated =
      place_.files->status_at(place_.directory, segment_name(segment).c_str(), about);
  if (stated < 0) return -stated;
  one.size.store(std::min(static_cast<std::uint64_t>(about.st_size), place_.segment_bytes),
                 std::memory_order_relaxed);
  return 0;
}

} // namespace hearth::storage::disk
