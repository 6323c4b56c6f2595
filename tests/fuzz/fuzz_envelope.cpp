// Envelopes: reads hostile bytes as they are, and again with a matching checksum and signature, as
// an attacker with write access to the server could make them; then the key file.
#include "storage/remote/envelope.hpp"

#include "storage/hash/copy_hash.hpp"
#include "storage/remote/envelope_codec.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/storage/remote/remote_keys.hpp"

using namespace hearth;
using namespace hearth::storage;
using namespace hearth::fuzz;

namespace {

constexpr std::uint64_t max_bytes = 1u << 18;

void open(const cache_key& key, std::string_view bytes, bool may_be_taken) {
  const auto opened = open_envelope(key, bytes, test::two_keys(), max_bytes);
  require(bool(opened.value) == (opened.fault == envelope_fault::none), "a fault and a value");
  require(!to_string(opened.fault).empty(), "a fault without a name");
  if (!opened.value) return;
  require(may_be_taken, "what nobody signed was taken");
  require(opened.value.payload().size() <= max_bytes, "a payload above the limit");
  const auto sealed = seal_envelope(key, opened.value, test::two_keys());
  const auto again = open_envelope(key, sealed, test::two_keys(), 2 * max_bytes);
  require(again.fault == envelope_fault::none, "what was taken cannot be sealed");
  require(same_bytes(again.value, opened.value), "sealed, it is something else");
}

void open_repaired(const cache_key& key, envelope_fields fields) {
  fields.key = key.bytes;
  fields.checksum = entry_checksum(key, fields, hash_bytes(fields.stored));
  const auto sum = entry_digest(key, fields);
  // A seed's own signature still fits when only its checksum was changed.
  const bool genuine = fields.signature && is_signed_by(test::two_keys(), *fields.signature, sum);
  open(key, pack_envelope(fields), !key.cache->sign || genuine);
  const auto& signer = test::two_keys().back();
  const auto signature = sign_digest(sum, signer);
  fields.signature = {1, signer.id, signature};
  open(key, pack_envelope(fields), true);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto plain = test::key_in("graphs", "k");
  static const auto signing = test::key_in("graphs", "k", true);
  const auto bytes = text_of(data, size);
  open(plain, bytes, true);
  open(signing, bytes, true); // a seed may be signed
  if (const auto fields = unpack_envelope(bytes)) {
    const auto packed = pack_envelope(*fields);
    const auto again = unpack_envelope(packed);
    require(again && again->stored == fields->stored && again->metadata == fields->metadata,
            "an envelope is another one when packed again");
    open_repaired(plain, *fields);
    open_repaired(signing, *fields);
  }
  if (const auto keys = parse_signing_keys(bytes))
    for (const auto& key : *keys)
      require(!key.id.empty() && key.secret.size() >= 16, "a key that is none");
  return 0;
}
