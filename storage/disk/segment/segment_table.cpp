#include "storage/disk/segment/segment_table.hpp"

#include "storage/disk/segment/record.hpp"
#include "storage/disk/segment/segment_scan.hpp"
#include "storage/hash/copy_hash.hpp"

#include <algorithm>
#include <fcntl.h>
#include <limits>

namespace hearth::storage::disk {
namespace {

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
  // If the known entries do not end where the file ends, they do not match its content.
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
