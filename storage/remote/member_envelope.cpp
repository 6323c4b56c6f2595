#include "storage/remote/member_envelope.hpp"

#include "messages/hash.hpp"
#include "messages/hex.hpp"
#include "messages/key.hpp"

namespace hearth::storage {
namespace {

// The key that a member's envelope is sealed for: not that of an entry, so that neither can stand
// for the other.
cache_key member_key(const cache_key& set) { return derived_key(set, key("member")); }

} // namespace

std::string member_field(const set_member& member) {
  const auto hash = fast_hash_128(encode(member));
  std::string name;
  append_hex(name, hash.view());
  return name;
}

std::string seal_member(const cache_key& key, const set_member& member, const signing_keys& keys) {
  return seal_envelope(member_key(key), artifact::make(encode(member)), keys);
}

opened_member open_member(const cache_key& key, std::string_view field, std::string_view bytes,
                          const signing_keys& keys, std::uint64_t max_bytes) {
  const auto opened = open_envelope(member_key(key), bytes, keys, max_bytes);
  if (opened.fault != envelope_fault::none) return {opened.fault, {}};
  auto member = decode_member(opened.value.payload());
  if (!member) return {envelope_fault::malformed, {}};
  if (member_field(*member) != field) return {envelope_fault::damaged, {}};
  return {envelope_fault::none, std::move(*member)};
}

} // namespace hearth::storage
