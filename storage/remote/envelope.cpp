#include "storage/remote/envelope.hpp"

#include "storage/hash/copy_hash.hpp"
#include "storage/remote/envelope_codec.hpp"

#include <algorithm>
#include <zstd.h>

namespace hearth::storage {
namespace {

opened_envelope not_taken(envelope_fault why) { return {why, {}}; }

// The compressed payload; empty when it is not smaller.
std::string pack_payload(std::string_view payload) {
  if (payload.size() < min_packed_bytes) return {};
  std::string packed(ZSTD_compressBound(payload.size()), '\0');
  const auto size = ZSTD_compress(packed.data(), packed.size(), payload.data(), payload.size(),
                                  envelope_compression_level);
  if (ZSTD_isError(size) || size >= payload.size()) return {};
  packed.resize(size);
  return packed;
}

envelope_fault check(const cache_key& key, const envelope_fields& fields, std::uint64_t stored_hash,
                     const signing_keys& keys) {
  if (fields.key != std::string_view(key.bytes)) return envelope_fault::damaged;
  if (fields.checksum != entry_checksum(key, fields, stored_hash)) return envelope_fault::damaged;
  if (!key.cache->sign) return envelope_fault::none;
  if (!fields.signature) return envelope_fault::unsigned_;
  return is_signed_by(keys, *fields.signature, entry_digest(key, fields)) ? envelope_fault::none
                                                                          : envelope_fault::forged;
}

artifact_body* room_for(const envelope_fields& fields) noexcept {
  return artifact_body::allocate(static_cast<std::uint32_t>(fields.metadata.size()),
                                 fields.payload_bytes);
}

// Opens an uncompressed envelope in one pass over the payload.
opened_envelope open_raw(const cache_key& key, const envelope_fields& fields,
                         const signing_keys& keys) {
  auto* const body = room_for(fields);
  if (!body) return not_taken(envelope_fault::too_large);
  auto made = artifact::adopt(body);
  const auto hash = copy_and_hash(body->payload_data(), fields.stored.data(), fields.stored.size());
  const auto fault = check(key, fields, hash, keys);
  if (fault != envelope_fault::none) return not_taken(fault);
  std::copy(fields.metadata.begin(), fields.metadata.end(), body->metadata_data());
  return {envelope_fault::none, std::move(made)};
}

// Opens a compressed envelope; checks it before it decompresses the payload.
opened_envelope open_packed(const cache_key& key, const envelope_fields& fields,
                            const signing_keys& keys) {
  const auto fault = check(key, fields, hash_bytes(fields.stored), keys);
  if (fault != envelope_fault::none) return not_taken(fault);
  auto* const body = room_for(fields);
  if (!body) return not_taken(envelope_fault::too_large);
  auto made = artifact::adopt(body);
  const auto unpacked = ZSTD_decompress(body->payload_data(), fields.payload_bytes,
                                        fields.stored.data(), fields.stored.size());
  if (unpacked != fields.payload_bytes) return not_taken(envelope_fault::damaged);
  std::copy(fields.metadata.begin(), fields.metadata.end(), body->metadata_data());
  return {envelope_fault::none, std::move(made)};
}

} // namespace

std::string_view to_string(envelope_fault fault) noexcept {
  switch (fault) {
  case envelope_fault::none: return "none";
  case envelope_fault::malformed: return "malformed";
  case envelope_fault::too_large: return "too_large";
  case envelope_fault::damaged: return "damaged";
  case envelope_fault::unsigned_: return "unsigned";
  case envelope_fault::forged: return "forged";
  }
  return "unknown";
}

std::string seal_envelope(const cache_key& key, const artifact& value, const signing_keys& keys) {
  if (key.cache->foreign) return std::string(value.payload());
  const bool sign = key.cache->sign;
  if ((sign && keys.empty()) || value.payload().size() > max_stored_bytes) return {};
  const auto packed = pack_payload(value.payload());
  envelope_fields fields;
  fields.key = key.bytes;
  fields.payload_bytes = value.payload().size();
  fields.metadata = value.metadata_bytes();
  fields.stored = packed.empty() ? value.payload() : std::string_view(packed);
  fields.coding =
      static_cast<std::uint64_t>(packed.empty() ? payload_coding::raw : payload_coding::zstd);
  fields.checksum = entry_checksum(key, fields, hash_bytes(fields.stored));
  const auto signature =
      sign ? sign_digest(entry_digest(key, fields), keys.front()) : std::string{};
  if (sign)
    fields.signature = {static_cast<std::uint64_t>(signature_algorithm::hmac_sha256),
                        keys.front().id, signature};
  return pack_envelope(fields);
}

opened_envelope open_envelope(const cache_key& key, std::string_view bytes,
                              const signing_keys& keys, std::uint64_t max_bytes) {
  if (bytes.size() > max_bytes) return not_taken(envelope_fault::too_large);
  if (key.cache->foreign) return {envelope_fault::none, artifact::make(bytes)};
  const auto fields = unpack_envelope(bytes);
  if (!fields) return not_taken(envelope_fault::malformed);
  if (fields->payload_bytes > max_bytes) return not_taken(envelope_fault::too_large);
  const bool is_raw = fields->coding == static_cast<std::uint64_t>(payload_coding::raw);
  return is_raw ? open_raw(key, *fields, keys) : open_packed(key, *fields, keys);
}

} // namespace hearth::storage
