#include "storage/remote/envelope_codec.hpp"

#include "messages/artifact.hpp"
#include "storage/hash/copy_hash.hpp"

#include <array>
#include <msgpack.hpp>

namespace hearth::storage {
namespace {

// The output stream for msgpack's packer.
struct text_stream {
  std::string& out;
  void write(const char* data, std::size_t size) { out.append(data, size); }
};
using packer = msgpack::packer<text_stream>;

void pack_text(packer& out, std::string_view text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  out.pack_str(size).pack_str_body(text.data(), size);
}

void pack_bytes(packer& out, std::string_view bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  out.pack_bin(size).pack_bin_body(bytes.data(), size);
}

// The places of the fields, in the order of the bytes. The items of the signature are in an array
// of their own.
enum class place {
  envelope,
  magic,
  version,
  key,
  coding,
  payload_bytes,
  metadata,
  checksum,
  signature,
  algorithm,
  key_id,
  signature_bytes,
  stored,
  end
};
constexpr std::uint32_t envelope_items = 9;
constexpr std::uint32_t signature_items = 3;

// Accepts msgpack's events only in the order of an envelope, and stops at any other.
class reader : public msgpack::null_visitor {
public:
  bool visit_nil() { return at_ == place::signature && go(place::stored); }
  bool visit_boolean(bool) { return false; }
  bool visit_negative_integer(std::int64_t) { return false; }
  bool visit_float32(float) { return false; }
  bool visit_float64(double) { return false; }
  bool visit_ext(const char*, std::uint32_t) { return false; }
  bool start_map(std::uint32_t) { return false; }

  bool start_array(std::uint32_t items) {
    if (at_ == place::envelope) return items == envelope_items && go(place::magic);
    if (at_ != place::signature || items != signature_items) return false;
    fields.signature.emplace();
    return go(place::algorithm);
  }

  bool visit_positive_integer(std::uint64_t number) {
    switch (at_) {
    case place::version: return number == envelope_version && go(place::key);
    case place::coding: fields.coding = number; return go(place::payload_bytes);
    case place::payload_bytes: fields.payload_bytes = number; return go(place::metadata);
    case place::checksum: fields.checksum = number; return go(place::signature);
    case place::algorithm: fields.signature->algorithm = number; return go(place::key_id);
    default: return false;
    }
  }

  bool visit_str(const char* data, std::uint32_t size) {
    const std::string_view text(data, size);
    if (at_ == place::magic) return text == envelope_magic && go(place::version);
    if (at_ != place::key_id) return false;
    fields.signature->key_id = text;
    return go(place::signature_bytes);
  }

  bool visit_bin(const char* data, std::uint32_t size) {
    const std::string_view bytes(data, size);
    switch (at_) {
    case place::key: fields.key = bytes; return go(place::coding);
    case place::metadata: fields.metadata = bytes; return go(place::checksum);
    case place::signature_bytes: fields.signature->bytes = bytes; return go(place::stored);
    case place::stored: fields.stored = bytes; return go(place::end);
    default: return false;
    }
  }

  bool is_complete() const { return at_ == place::end; }

  envelope_fields fields;

private:
  bool go(place next) {
    at_ = next;
    return true;
  }
  place at_ = place::envelope;
};

bool is_possible(const envelope_fields& fields) {
  if (fields.metadata.size() > max_metadata_bytes) return false;
  switch (static_cast<payload_coding>(fields.coding)) {
  case payload_coding::raw:
    return fields.coding == 0 && fields.stored.size() == fields.payload_bytes;
  case payload_coding::zstd:
    return fields.coding == 1 && fields.stored.size() < fields.payload_bytes;
  }
  return false;
}

template <std::size_t Count>
std::array<char, 8 * Count> little_endian(const std::array<std::uint64_t, Count>& numbers) {
  std::array<char, 8 * Count> bytes;
  auto* at = bytes.data();
  for (const auto number : numbers)
    for (unsigned bit = 0; bit < 64; bit += 8)
      *at++ = static_cast<char>(number >> bit);
  return bytes;
}

// Appends the length before the bytes, so that different lists of parts differ as bytes.
void add_length(std::string& out, std::size_t bytes) {
  const auto length = little_endian(std::array{std::uint64_t{bytes}});
  out.append(length.data(), length.size());
}
void add_part(std::string& out, std::string_view part) {
  add_length(out, part.size());
  out += part;
}

} // namespace

std::string pack_envelope(const envelope_fields& fields) {
  constexpr std::size_t max_framing_bytes = 128;
  std::string bytes;
  bytes.reserve(fields.key.size() + fields.metadata.size() + fields.stored.size() +
                max_framing_bytes);
  text_stream stream{bytes};
  packer out(stream);
  out.pack_array(envelope_items);
  pack_text(out, envelope_magic);
  out.pack_uint64(envelope_version);
  pack_bytes(out, fields.key);
  out.pack_uint64(fields.coding).pack_uint64(fields.payload_bytes);
  pack_bytes(out, fields.metadata);
  out.pack_uint64(fields.checksum);
  if (fields.signature) {
    out.pack_array(signature_items).pack_uint64(fields.signature->algorithm);
    pack_text(out, fields.signature->key_id);
    pack_bytes(out, fields.signature->bytes);
  } else {
    out.pack_nil();
  }
  pack_bytes(out, fields.stored);
  return bytes;
}

std::optional<envelope_fields> unpack_envelope(std::string_view bytes) {
  reader events;
  std::size_t used = 0;
  if (!msgpack::parse(bytes.data(), bytes.size(), used, events)) return {};
  if (!events.is_complete() || used != bytes.size() || !is_possible(events.fields)) return {};
  return events.fields;
}

std::uint64_t entry_checksum(const cache_key& key, const envelope_fields& fields,
                             std::uint64_t stored_hash) {
  const auto parts = little_endian(
      std::array{fields.coding, fields.payload_bytes, hash_bytes(fields.metadata), stored_hash});
  return hash_seeded(parts.data(), parts.size(), key.disk_hash);
}

digest entry_digest(const cache_key& key, const envelope_fields& fields) {
  constexpr std::size_t max_framing_bytes = 128;
  const auto& id = key.cache->id;
  std::string small;
  small.reserve(id.name().size() + id.version().size() + key.bytes.size() + max_framing_bytes);
  add_part(small, digest_label);
  add_part(small, id.name());
  add_part(small, id.version());
  add_part(small, key.bytes);
  add_part(small, std::to_string(fields.coding));
  add_part(small, std::to_string(fields.payload_bytes));
  add_length(small, fields.metadata.size());
  sha256_stream hash;
  hash.update(small).update(fields.metadata);
  small.clear();
  add_length(small, fields.stored.size());
  return hash.update(small).update(fields.stored).finish();
}

} // namespace hearth::storage
