#include "storage/bundle/kept_record.hpp"

#include "messages/digest.hpp"
#include "messages/value.hpp"

namespace hearth::storage {
namespace {

constexpr const char* head_member = "record_head";

} // namespace

key key_of_kept(const record_head& head) {
  return key::tuple({head.type, head.cache, head.version, key::bytes(sha256(head.key).view())});
}

std::string metadata_of_kept(const record_head& head) {
  return encode(value{value::map{{head_member, binary{encode_head(head)}}}});
}

std::optional<record_head> kept_head(std::string_view metadata) {
  const auto decoded = decode_value(metadata);
  const auto* member = decoded ? decoded->find(head_member) : nullptr;
  const auto* bytes = member ? member->as<binary>() : nullptr;
  if (!bytes) return std::nullopt;
  auto head = decode_head(bytes->bytes);
  return head ? std::optional(std::move(*head)) : std::nullopt;
}

} // namespace hearth::storage
