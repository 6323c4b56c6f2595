#include "storage/bundle/bundle_end.hpp"

#include "messages/value.hpp"

#include <algorithm>

namespace hearth::storage {
namespace {

constexpr std::size_t end_items = 4;
constexpr std::size_t bundle_signature_items = 3;

// Counts fit: the size of a disk bounds the content.
std::int64_t counted(std::uint64_t number) { return static_cast<std::int64_t>(number); }

std::optional<std::uint64_t> count_in(const value& v) {
  const auto* number = v.as<std::int64_t>();
  if (!number || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

value value_of(const std::optional<kept_signature>& made) {
  if (!made) return {};
  return value::array{counted(made->algorithm), made->key_id, binary{made->bytes}};
}

// False when the value is neither nil nor a signature.
bool take_signature(const value& v, std::optional<kept_signature>& into) {
  if (v.is_nil()) return true;
  const auto* items = v.as<value::array>();
  if (!items || items->size() != bundle_signature_items) return false;
  const auto algorithm = count_in((*items)[0]);
  const auto* key_id = (*items)[1].as<std::string>();
  const auto* bytes = (*items)[2].as<binary>();
  if (!algorithm || !key_id || !bytes) return false;
  into = {*algorithm, *key_id, bytes->bytes};
  return true;
}

} // namespace

std::string encode_end(const bundle_end& end) {
  return encode(value{value::array{counted(end.records), counted(end.content_bytes),
                                   binary{std::string(end.sum.view())}, value_of(end.signed_by)}});
}

std::optional<bundle_end> decode_end(std::string_view bytes) {
  const auto decoded = decode_value(bytes);
  const auto* items = decoded ? decoded->as<value::array>() : nullptr;
  if (!items || items->size() != end_items) return std::nullopt;
  const auto records = count_in((*items)[0]);
  const auto content = count_in((*items)[1]);
  const auto* sum = (*items)[2].as<binary>();
  const auto digest_read = sum ? digest::of_bytes(sum->bytes) : std::nullopt;
  bundle_end end;
  if (!records || !content || !digest_read || !take_signature((*items)[3], end.signed_by))
    return std::nullopt;
  end.records = *records;
  end.content_bytes = *content;
  end.sum = *digest_read;
  return end;
}

} // namespace hearth::storage
