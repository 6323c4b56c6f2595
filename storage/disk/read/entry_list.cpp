#include "storage/disk/read/entry_list.hpp"

#include "storage/disk/segment/record.hpp"
#include "storage/disk/segment/segment_reader.hpp"

#include <cstring>

namespace hearth::storage::disk {
namespace {

// How many buckets a step of a scan looks at.
constexpr std::uint64_t buckets_a_step = 4096;

bool read_metadata(segment_reader& from, std::uint64_t offset, const record_header& header,
                   std::string& out) {
  out.resize(header.metadata_bytes);
  std::uint64_t hash = 0;
  return out.empty() ||
         (from.copy(out.data(), offset, out.size(), hash) && hash == header.metadata_sum);
}

// False: the record at this place is damaged, or cannot be read.
bool describe(shard_files& files, segment_reader& from, location where, entry_info& out) {
  std::string scratch;
  record_header header;
  const char* bytes = from.peek(where.offset, sizeof header, scratch);
  if (!bytes) return false;
  std::memcpy(&header, bytes, sizeof header);
  if (!is_sealed(header, files.config.store_id, from.sealed_at(where)) || !has_sane_lengths(header))
    return false;
  const auto identity_at = where.offset + sizeof header;
  const char* identity = from.peek(identity_at, header.identity_bytes(), scratch);
  if (!identity) return false;
  out.cache.assign(identity, header.name_bytes);
  out.version.assign(identity + header.name_bytes, header.version_bytes);
  out.key.assign(identity + header.name_bytes + header.version_bytes, header.key_bytes);
  out.metadata_bytes = header.metadata_bytes;
  out.payload_bytes = header.payload_bytes;
  out.stored_bytes = record_size(header);
  out.expires_unix_ms = header.expires_unix_ms;
  out.sequence = header.sequence;
  out.shard = files.config.number;
  if (!read_metadata(from, identity_at + header.identity_bytes(), header, out.metadata))
    out.metadata.clear(); // the entry is there all the same
  return hash_bytes(out.cache + out.version + out.key) == header.identity_sum;
}

// False: the slot has no entry, or one whose record is damaged. A writer may give the slot another
// record, and the former record's segment may be removed, while this reads.
bool describe_slot(shard_files& files, const slot& one, entry_info& out) {
  constexpr unsigned max_looks = 8;
  for (unsigned look = 0; look < max_looks; ++look) {
    const auto word = one.load(std::memory_order_acquire);
    if (word == 0) return false;
    const auto where = slot_location(word);
    const auto oldest = files.oldest();
    if (where.segment >= oldest) {
      segment_reader from(files.windows, where.segment, oldest);
      if (describe(files, from, where, out)) return true;
      from.distrust_mapping();
      if (describe(files, from, where, out)) return true;
    }
    if ((one.load(std::memory_order_acquire) & ~hit_bit) == (word & ~hit_bit)) return false;
  }
  return false;
}

std::uint16_t short_generation(const index_table& index) {
  return static_cast<std::uint16_t>(index.generation());
}

// Visits the live entries of a bucket. False: `visit` returned it for one of them.
bool visit_bucket(shard_files& files, const index_table& index, std::uint64_t bucket,
                  std::int64_t now, const std::function<bool(const entry_info&)>& visit,
                  entry_info& info) {
  bool go_on = true;
  for (std::uint64_t i = 0; i < slots_per_bucket; ++i)
    if (describe_slot(files, index.at(bucket * slots_per_bucket + i), info) &&
        !is_expired(info.expires_unix_ms, now))
      go_on = visit(info) && go_on;
  return go_on;
}

} // namespace

expected<void> list_entries(shard_files& files, const std::function<bool(const entry_info&)>& visit,
                            bool& go_on) {
  const auto* index = files.index.current();
  if (!index) return fail(files.unmapped_index());
  const auto now = unix_time_ms();
  entry_info info{};
  for (std::uint64_t position = 0; go_on && position < index->slots(); ++position)
    if (describe_slot(files, index->at(position), info) && !is_expired(info.expires_unix_ms, now))
      go_on = visit(info);
  return {};
}

expected<std::vector<entry_info>> expired_entries(shard_files& files) {
  const auto* index = files.index.current();
  if (!index) return fail(files.unmapped_index());
  const auto now = unix_time_ms();
  std::vector<entry_info> found;
  entry_info info{};
  for (std::uint64_t position = 0; position < index->slots(); ++position)
    if (describe_slot(files, index->at(position), info) && is_expired(info.expires_unix_ms, now))
      found.push_back(info);
  return found;
}

expected<std::optional<scan_place>>
scan_entries(shard_files& files, const scan_place& from,
             const std::function<bool(const entry_info&)>& visit) {
  const auto* index = files.index.current();
  if (!index) return fail(files.unmapped_index());
  // Another table has the entries in other buckets.
  auto bucket = from.generation == short_generation(*index) ? from.bucket : 0;
  const auto now = unix_time_ms();
  entry_info info{};
  bool go_on = true;
  for (std::uint64_t i = 0; go_on && i < buckets_a_step && bucket < index->buckets(); ++i)
    go_on = visit_bucket(files, *index, bucket++, now, visit, info);
  if (bucket < index->buckets()) return scan_place{from.shard, short_generation(*index), bucket};
  // A table that was replaced while it was read may have lacked what writers put into the next one.
  const auto* last = files.index.current();
  if (!last) return fail(files.unmapped_index());
  if (last->generation() != index->generation())
    return scan_place{from.shard, short_generation(*last), 0};
  return std::nullopt;
}

} // namespace hearth::storage::disk
