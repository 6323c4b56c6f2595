#include "storage/disk/segment/segment_scan.hpp"

#include <algorithm>
#include <cerrno>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hearth::storage::disk {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

} // namespace

segment_scan::segment_scan(const segment_place& place, std::uint64_t segment)
    : place_(place)
    , segment_(segment)
    , file_(open_segment(place, segment, size_, &sealed_as_))
    , end_(size_) {
  error_ = file_.error();
}

bool segment_scan::is_large() const {
  segment_header header;
  return file_ && read_segment_header(place_, file_, segment_, header) == 0 && header.large == 1;
}

bool segment_scan::has_bad_header() const {
  segment_header header;
  return file_ && read_segment_header(place_, file_, segment_, header) == EBADMSG;
}

void segment_scan::limit(std::uint64_t from, std::uint64_t offset) noexcept {
  position_ = std::max(from, first_record_offset);
  end_ = std::min(size_, offset);
}

const char* segment_scan::bytes_at(std::uint64_t offset, std::size_t bytes) {
  if (error_ || offset + bytes > end_) return nullptr;
  if (offset >= buffer_start_ && offset + bytes <= buffer_start_ + buffer_.size())
    return buffer_.data() + (offset - buffer_start_);
  buffer_.resize(static_cast<std::size_t>(
      std::min<std::uint64_t>(std::max(bytes, buffer_bytes), end_ - offset)));
  buffer_start_ = offset;
  const auto got = read_fully(*place_.files, file_.get(), buffer_.data(), buffer_.size(), offset);
  if (got < 0) error_ = static_cast<int>(-got);
  buffer_.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return buffer_.size() >= bytes ? buffer_.data() : nullptr;
}

bool segment_scan::next(record_header& header, location& where) {
  while (const char* bytes = bytes_at(position_, sizeof header)) {
    std::memcpy(&header, bytes, sizeof header);
    where = {segment_, position_};
    if (is_sealed(header, place_.store_id, {sealed_as_, position_}) && has_sane_lengths(header) &&
        record_end(header) <= end_ - position_) {
      position_ += record_size(header);
      record_end_ = position_;
      return true;
    }
    const bool zero = std::all_of(bytes, bytes + unit_bytes, [](char c) { return c == 0; });
    if (!zero) note_damage(position_, position_ + unit_bytes);
    position_ += unit_bytes;
  }
  if (!error_ && position_ < end_) {
    const auto left = static_cast<std::size_t>(end_ - position_);
    const char* bytes = bytes_at(position_, left);
    if (bytes && !std::all_of(bytes, bytes + left, [](char c) { return c == 0; }))
      note_damage(position_, end_);
    position_ = end_;
  }
  return false;
}

void segment_scan::note_damage(std::uint64_t begin, std::uint64_t end) {
  constexpr std::uint64_t gap = 256; // zeros inside a damaged record do not split it in two
  const bool adjoins = !damage_.empty() && damage_.back().second >= record_end_;
  if (adjoins && begin <= damage_.back().second + gap)
    damage_.back().second = end;
  else if (damage_.size() < 10000)
    damage_.emplace_back(begin, end);
}

std::string segment_scan::identity(const record_header& header, location where) {
  const auto bytes = static_cast<std::size_t>(header.identity_bytes());
  const char* data = bytes_at(where.offset + sizeof header, bytes);
  if (!data || hash_bytes(data, bytes) != header.identity_sum) return {};
  return {data, bytes};
}

bool segment_scan::hash_range(std::uint64_t offset, std::uint64_t bytes, std::uint64_t& hash) {
  if (bytes <= buffer_bytes) {
    const char* data = bytes_at(offset, static_cast<std::size_t>(bytes));
    if (data) hash = hash_bytes(data, static_cast<std::size_t>(bytes));
    return data != nullptr;
  }
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (std::uint64_t done = 0; done < bytes; done += buffer_bytes) {
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(buffer_bytes, bytes - done));
    const char* data = bytes_at(offset + done, part);
    if (!data) return false;
    XXH3_64bits_update(&state, data, part);
  }
  hash = XXH3_64bits_digest(&state);
  return true;
}

bool segment_scan::is_intact(const record_header& header, location where) {
  std::uint64_t offset = where.offset + sizeof header;
  const auto part = [&](std::uint64_t bytes, std::uint64_t expected_hash) {
    std::uint64_t hash = 0;
    const bool right = hash_range(offset, bytes, hash) && hash == expected_hash;
    offset += bytes;
    return right;
  };
  return part(header.identity_bytes(), header.identity_sum) &&
         part(header.metadata_bytes, header.metadata_sum) &&
         part(header.stored_bytes, header.payload_sum);
}

bool segment_scan::is_unfinished_table(std::uint64_t begin, std::uint64_t end) {
  record_header header;
  if (end == size_ && end - begin < sizeof header) return true; // too short for any record
  const char* bytes = bytes_at(begin, sizeof header);
  if (!bytes) return false;
  std::memcpy(&header, bytes, sizeof header);
  return header.kind == record_kind::table &&
         is_sealed(header, place_.store_id, {sealed_as_, begin});
}

std::string segment_scan::read_intact(location where) {
  record_header header;
  location found;
  limit(where.offset, size_);
  if (!next(header, found) || found != where || !is_intact(header, where)) return {};
  const auto bytes = static_cast<std::size_t>(record_size(header));
  const char* data = bytes_at(where.offset, static_cast<std::size_t>(record_end(header)));
  if (!data) return {};
  std::string record(data, static_cast<std::size_t>(record_end(header)));
  record.resize(bytes, '\0');
  return record;
}

} // namespace hearth::storage::disk
