#include "storage/disk/segment_windows.hpp"

#include "storage/hash/copy_hash.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <new>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hearth::storage::disk {

std::string segment_name(std::uint64_t segment) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%06llu.seg", static_cast<unsigned long long>(segment));
  return text.data();
}

std::uint64_t segment_number(const std::string& name) noexcept {
  constexpr std::string_view suffix = ".seg";
  if (name.size() < 6 + suffix.size() || !name.ends_with(suffix)) return 0;
  std::uint64_t number = 0;
  const char* end = name.data() + name.size() - suffix.size();
  const auto parsed = std::from_chars(name.data(), end, number);
  return parsed.ec == std::errc{} && parsed.ptr == end && number <= max_segment ? number : 0;
}

namespace {

// A large value that eviction kept goes on under a higher number than its header has.
bool is_header_of(const segment_header& header, const segment_place& place,
                  std::uint64_t segment) noexcept {
  return header.magic == segment_magic && header.format == format_version &&
         header.store_id == place.store_id &&
         (header.segment == segment || (header.large && header.segment < segment)) &&
         header.sum == hash_seeded(&header, offsetof(segment_header, sum), 0);
}

} // namespace

file open_segment(const segment_place& place, std::uint64_t segment, std::uint64_t& size,
                  std::uint64_t* sealed_as) {
  auto& files = *place.files;
  const auto name = segment_name(segment);
  file opened(files, files.open_at(place.directory, name.c_str(), O_RDONLY | O_NOFOLLOW, 0));
  if (!opened) return opened;
  struct stat about {};
  if (const int stated = files.status(opened.get(), about); stated < 0) return {files, stated};
  if (sealed_as) {
    segment_header header;
    const int error = read_segment_header(place, opened, segment, header);
    if (error && error != EBADMSG) return {files, -error};
    *sealed_as = error ? segment : header.segment;
  }
  size = static_cast<std::uint64_t>(about.st_size);
  return opened;
}

int read_segment_header(const segment_place& place, const file& from, std::uint64_t segment,
                        segment_header& header) {
  const auto got = read_fully(*place.files, from.get(), &header, sizeof header, 0);
  if (got < 0) return static_cast<int>(-got);
  return got == sizeof header && is_header_of(header, place, segment) ? 0 : EBADMSG;
}

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

const char* segment_reader::mapped(std::uint64_t end) noexcept {
  if (from_file_) return nullptr;
  const char* base = windows_.find(segment_, end, oldest_, error_);
  if (!base && error_ == 0) from_file_ = true;
  return base;
}

bool segment_reader::open() noexcept {
  if (file_) return true;
  file_ = open_segment(windows_.place(), segment_, size_);
  error_ = file_.error();
  return error_ == 0;
}

bool segment_reader::read(char* to, std::uint64_t offset, std::uint64_t bytes) noexcept {
  if (!open()) return false;
  const auto got = read_fully(*windows_.place().files, file_.get(), to, bytes, offset);
  error_ = got < 0 ? static_cast<int>(-got) : 0;
  if (got >= 0 && static_cast<std::uint64_t>(got) < bytes) error_ = ERANGE;
  return error_ == 0;
}

const char* segment_reader::peek(std::uint64_t offset, std::uint64_t bytes,
                                 std::string& scratch) noexcept {
  if (const char* base = mapped(offset + bytes)) return base + offset;
  if (!from_file_ || !open()) return nullptr;
  if (offset + bytes > size_) {
    error_ = ERANGE;
    return nullptr;
  }
  try {
    scratch.resize(bytes);
  } catch (const std::bad_alloc&) {
    error_ = ENOMEM;
    return nullptr;
  }
  return read(scratch.data(), offset, bytes) ? scratch.data() : nullptr;
}

location segment_reader::sealed_at(location where) noexcept {
  if (where.offset != first_record_offset) return where;
  std::string scratch;
  segment_header header;
  const char* bytes = peek(0, sizeof header, scratch);
  if (!bytes) return where;
  std::memcpy(&header, bytes, sizeof header);
  return is_header_of(header, windows_.place(), segment_) ? location{header.segment, where.offset}
                                                          : where;
}

bool segment_reader::copy(char* to, std::uint64_t offset, std::uint64_t bytes,
                          std::uint64_t& hash) noexcept {
  if (const char* base = mapped(offset + bytes)) {
    hash = copy_and_hash(to, base + offset, bytes);
    return true;
  }
  if (!from_file_) return false;
  constexpr std::uint64_t chunk = 128 << 10;
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (std::uint64_t done = 0; done < bytes; done += chunk) {
    const auto part = std::min(chunk, bytes - done);
    if (!read(to + done, offset + done, part)) return false;
    XXH3_64bits_update(&state, to + done, part);
  }
  hash = XXH3_64bits_digest(&state);
  return true;
}

} // namespace hearth::storage::disk
