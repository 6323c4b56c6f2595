#include "storage/disk/segment/segment_reader.hpp"

#include "storage/hash/copy_hash.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hearth::storage::disk {

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
