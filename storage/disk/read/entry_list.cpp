#include "storage/disk/read/entry_list.hpp"

#include "storage/disk/segment/record.hpp"
#include "storage/disk/segment/segment_reader.hpp"

#include <cstring>

namespace hearth::storage::disk {
namespace {

// False: the slot's record is damaged, or cannot be read.
bool describe(shard_files& files, std::uint64_t word, entry_info& out) {
  const auto where = slot_location(word);
  segment_reader from(files.windows, where.segment, files.oldest());
  std::string scratch;
  record_header header;
  const char* bytes = from.peek(where.offset, sizeof header, scratch);
  if (!bytes) return false;
  std::memcpy(&header, bytes, sizeof header);
  if (!is_sealed(header, files.config.store_id, from.sealed_at(where)) || !has_sane_lengths(header))
    return false;
  const char* identity = from.peek(where.offset + sizeof header, header.identity_bytes(), scratch);
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
  return hash_bytes(out.cache + out.version + out.key) == header.identity_sum;
}

} // namespace

expected<void> list_entries(shard_files& files, const std::function<bool(const entry_info&)>& visit,
                            bool& go_on) {
  const auto* index = files.index.current();
  if (!index) return fail(files.unmapped_index());
  const auto now = unix_time_ms();
  entry_info info{};
  for (std::uint64_t position = 0; go_on && position < index->slots(); ++position) {
    const auto word = index->at(position).load(std::memory_order_acquire);
    if (word == 0 || slot_segment(word) < files.oldest() || !describe(files, word, info)) continue;
    if (!is_expired(info.expires_unix_ms, now)) go_on = visit(info);
  }
  return {};
}

} // namespace hearth::storage::disk
