#include "storage/bundle/record_head.hpp"

#include "messages/artifact.hpp"
#include "messages/cache_id.hpp"
#include "messages/key.hpp"
#include "messages/value.hpp"
#include "storage/bundle/format.hpp"

#include <utility>

namespace hearth::storage {
namespace {

constexpr std::size_t head_items = 6;

tl::unexpected<error> no_head(std::string_view what) {
  return fail(errc::malformed, "the head of a record: " + std::string(what));
}

expected<record_head> checked(record_head head) {
  if (!is_record_type(head.type)) return no_head("its type can be none");
  if (auto id = cache_id::make(head.cache, head.version); !id) return no_head(id.error().text());
  if (auto name = key::decode(head.key); !name) return no_head(name.error().text());
  if (head.metadata.size() > max_metadata_bytes) return no_head("metadata above 16 MiB");
  if (head.payload_bytes > max_payload_bytes) return no_head("a payload above 1 TiB");
  return head;
}

} // namespace

bool is_entry_type(std::string_view type) noexcept {
  return type == entry_record_type || type == graph_record_type || type == tuning_record_type ||
         type == plan_record_type;
}

bool is_record_type(std::string_view text) noexcept {
  constexpr std::string_view allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !text.empty() && text.size() <= max_record_type_bytes &&
         text.find_first_not_of(allowed) == std::string_view::npos;
}

std::string encode_head(const record_head& head) {
  return encode(
      value{value::array{head.type, head.cache, head.version, binary{head.key},
                         binary{head.metadata}, static_cast<std::int64_t>(head.payload_bytes)}});
}

expected<record_head> decode_head(std::string_view bytes) {
  auto decoded = decode_value(bytes);
  if (!decoded) return no_head(decoded.error().text());
  auto* items = decoded->as<value::array>();
  if (!items || items->size() != head_items) return no_head("not an array of six");
  auto* type = (*items)[0].as<std::string>();
  auto* cache = (*items)[1].as<std::string>();
  auto* version = (*items)[2].as<std::string>();
  auto* name = (*items)[3].as<binary>();
  auto* metadata = (*items)[4].as<binary>();
  const auto* payload = (*items)[5].as<std::int64_t>();
  if (!type || !cache || !version || !name || !metadata || !payload || *payload < 0)
    return no_head("a field of another kind");
  return checked({std::move(*type), std::move(*cache), std::move(*version), std::move(name->bytes),
                  std::move(metadata->bytes), static_cast<std::uint64_t>(*payload)});
}

} // namespace hearth::storage
