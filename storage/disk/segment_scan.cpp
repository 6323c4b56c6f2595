#include "storage/disk/segment_scan.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <limits>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hearth::storage::disk {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

entry_place unpack_entry(const table_entry& entry, std::uint64_t segment) noexcept {
  return {entry.hash,
          entry.sequence,
          {segment, offset_of(entry)},
          bytes_of(entry),
          static_cast<record_kind>(entry.place >> 56)};
}

bool is_entry(record_kind kind) noexcept {
  return kind == record_kind::value || kind == record_kind::tombstone;
}

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
  constexpr std::uint64_t gap = 256; // zeros inside a damaged record do not make two of it
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

namespace {

int read_entries(segment_scan& scan, std::vector<table_entry>& entries, std::uint64_t& sequence,
                 bool& has_table) {
  entries.clear();
  sequence = 0;
  record_header header;
  location where;
  while (scan.next(header, where)) {
    has_table = header.kind == record_kind::table;
    if (has_table) return 0;
    sequence = std::max(sequence, header.sequence);
    if (is_entry(header.kind))
      entries.push_back(table_entry_of(header.hash, header.sequence, where.offset,
                                       where.offset + record_size(header), header.kind));
  }
  return scan.error();
}

} // namespace

bool read_table(const segment_place& place, std::uint64_t segment, std::vector<table_entry>& out) {
  std::uint64_t size = 0;
  const file opened = open_segment(place, segment, size);
  table_footer footer;
  record_header header;
  auto& files = *place.files;
  const auto read = [&](void* to, std::size_t bytes, std::uint64_t offset) {
    return read_fully(files, opened.get(), to, bytes, offset) == static_cast<ssize_t>(bytes);
  };
  if (!opened || size < first_record_offset + sizeof header + sizeof footer ||
      !read(&footer, sizeof footer, size - sizeof footer) || footer.magic != table_footer_magic ||
      footer.table_offset % unit_bytes != 0 ||
      footer.table_offset > size - sizeof header - sizeof footer ||
      !read(&header, sizeof header, footer.table_offset))
    return false;
  const location where{segment, footer.table_offset};
  const auto room = size - footer.table_offset - sizeof header - sizeof footer;
  if (!is_sealed(header, place.store_id, where) || header.kind != record_kind::table ||
      header.stored_bytes > room || header.stored_bytes % sizeof(table_entry) != 0)
    return false;
  out.resize(header.stored_bytes / sizeof(table_entry));
  return read(out.data(), header.stored_bytes, where.offset + sizeof header) &&
         hash_bytes(reinterpret_cast<const char*>(out.data()), header.stored_bytes) ==
             header.payload_sum;
}

int write_table(const segment_place& place, std::uint64_t segment,
                std::vector<table_entry> entries) {
  segment_scan scan(place, segment);
  if (scan.error()) return scan.error();
  std::uint64_t sequence = entries.empty() ? 0 : entries.back().sequence;
  // Known entries that do not end where the file does are not what is in it now.
  if (entries.empty() || offset_of(entries.back()) + bytes_of(entries.back()) != scan.size()) {
    bool has_table = false;
    if (const int error = read_entries(scan, entries, sequence, has_table)) return error;
    if (has_table) return 0;
  }
  const location at{segment, round_up(scan.size(), unit_bytes)};
  const auto bytes = entries.size() * sizeof(table_entry);
  record_header table;
  table.kind = record_kind::table;
  table.sequence = sequence;
  table.payload_bytes = table.stored_bytes = bytes;
  table.identity_sum = table.metadata_sum = hash_bytes(std::string_view{});
  table.payload_sum = hash_bytes(reinterpret_cast<const char*>(entries.data()), bytes);
  seal(table, place.store_id, at);
  const table_footer footer{table_footer_magic, at.offset};
  const std::string zeros(round_up(sizeof table + bytes, unit_bytes) - sizeof table - bytes, '\0');
  std::vector<iovec> parts{{&table, sizeof table},
                           {entries.data(), bytes},
                           {const_cast<char*>(zeros.data()), zeros.size()},
                           {const_cast<table_footer*>(&footer), sizeof footer}};
  auto& files = *place.files;
  const file out(files, files.open_at(place.directory, segment_name(segment).c_str(),
                                      O_WRONLY | O_NOFOLLOW, 0));
  if (!out) return out.error();
  return write_fully(files, out.get(), parts, at.offset).error;
}

int for_each_entry(const segment_place& place, std::uint64_t segment, std::uint64_t limit,
                   const std::function<void(const entry_place&)>& visit) {
  std::vector<table_entry> table;
  if (limit == no_limit && read_table(place, segment, table)) {
    for (const auto& entry : table)
      visit(unpack_entry(entry, segment));
    return 0;
  }
  segment_scan scan(place, segment);
  scan.limit(0, limit);
  record_header header;
  location where;
  while (!scan.error() && scan.next(header, where))
    if (is_entry(header.kind))
      visit({header.hash, header.sequence, where, record_size(header), header.kind});
  return scan.error();
}

} // namespace hearth::storage::disk
