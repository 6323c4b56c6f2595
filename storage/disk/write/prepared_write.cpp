#include "storage/disk/write/prepared_write.hpp"

#include "messages/key.hpp"
#include "storage/disk/change_journal.hpp"
#include "storage/disk/segment/record.hpp"
#include "storage/hash/copy_hash.hpp"

#include <algorithm>
#include <array>
#include <zstd.h>

namespace hearth::storage::disk {
namespace {

constexpr std::uint64_t min_compressed_bytes = 512;
constexpr int compression_level = 3;

// The sum of name, version and key, which the record holds without gaps.
std::uint64_t identity_sum_of(const entry_key& key, std::uint64_t bytes) {
  std::array<char, max_cache_name_bytes + max_cache_version_bytes + 512> small;
  std::string large;
  if (bytes > small.size()) large.resize(bytes);
  char* identity = large.empty() ? small.data() : large.data();
  const auto& cache = *key.cache;
  char* end = std::copy(cache.name().begin(), cache.name().end(), identity);
  end = std::copy(cache.version().begin(), cache.version().end(), end);
  std::copy(key.bytes.begin(), key.bytes.end(), end);
  return hash_bytes(identity, bytes);
}

// Compresses the payload if that makes it smaller.
void compress(prepared_write& out) {
  if (out.payload.size() < min_compressed_bytes) return;
  out.compressed.resize(ZSTD_compressBound(out.payload.size()));
  const auto size = ZSTD_compress(out.compressed.data(), out.compressed.size(), out.payload.data(),
                                  out.payload.size(), compression_level);
  if (ZSTD_isError(size) || size >= out.payload.size()) return;
  out.compressed.resize(size);
  out.payload = out.compressed;
  out.header.coding = codec::zstd;
}

} // namespace

error flaw_of(const write_request& request, const shard_config& config) {
  if (shard_of_hash(request.key.hash, config.shards) != config.number)
    return {errc::invalid_argument,
            "a write for shard " + std::to_string(shard_of_hash(request.key.hash, config.shards)) +
                " was given to shard " + std::to_string(config.number)};
  if (request.key.bytes.size() > max_key_bytes)
    return {errc::too_large, "a key of " + std::to_string(request.key.bytes.size()) +
                                 " bytes is longer than " + std::to_string(max_key_bytes)};
  if (!erases(request.kind) && !request.value)
    return {errc::invalid_argument, "a write of a value came without one"};
  return {};
}

void prepare(const write_request& request, const shard_config& config, prepared_write& out) {
  auto& header = out.header;
  const auto& cache = *request.key.cache;
  header.name_bytes = static_cast<std::uint8_t>(cache.name().size());
  header.version_bytes = static_cast<std::uint8_t>(cache.version().size());
  header.key_bytes = static_cast<std::uint16_t>(request.key.bytes.size());
  header.hash = request.key.hash;
  header.identity_sum = identity_sum_of(request.key, header.identity_bytes());
  if (erases(request.kind)) {
    header.kind = record_kind::tombstone;
    header.metadata_sum = header.payload_sum = hash_bytes(std::string_view{});
    return;
  }
  out.payload = request.value.payload();
  header.payload_bytes = out.payload.size();
  if (config.compress || request.compress) compress(out);
  header.metadata_bytes = static_cast<std::uint32_t>(request.value.metadata_bytes().size());
  header.stored_bytes = out.payload.size();
  header.expires_unix_ms =
      request.expires_unix_ms ? request.expires_unix_ms : expiry_of(request.value);
  header.metadata_sum = hash_bytes(request.value.metadata_bytes());
  header.payload_sum = hash_bytes(out.payload);
}

bool is_answered(write_request& request, const record_header& old, bool is_live, counters& counts) {
  if (request.journal && request.journal->is_overtaken(request.key.hash, request.last_change)) {
    request.status = write_status::overtaken;
    return true;
  }
  switch (request.kind) {
  case write_kind::insert:
    if (!is_live) return false;
    request.status = write_status::exists;
    counts.add(counter::existed);
    return true;
  case write_kind::erase:
    if (is_live) return false;
    request.status = write_status::absent;
    return true;
  case write_kind::expire:
    if (old.expires_unix_ms != 0 && !is_live) return false;
    request.status = write_status::absent;
    return true;
  case write_kind::swap:
    if (request.read_sequence == (is_live ? old.sequence : 0)) return false;
    request.status = write_status::overtaken;
    return true;
  case write_kind::put: break;
  }
  return false;
}

void refuse(write_request& request, const error& why, counters& counts) {
  request.status = write_status::failed;
  request.why = why;
  counts.add(counter::failed);
}

} // namespace hearth::storage::disk
