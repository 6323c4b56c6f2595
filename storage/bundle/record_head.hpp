// What a bundle says of an artifact before its payload. Pure functions over plain data, any thread.
#pragma once

#include "messages/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::storage {

/// The type of what is an entry of a named cache.
inline constexpr std::string_view entry_record_type = "entry";

struct record_head {
  std::string type{entry_record_type}; ///< 1 to 64 of letters, digits, '_', '-', '.'
  std::string cache;                   ///< its name, as `cache_id` has it
  std::string version = "0";
  std::string key;      ///< canonical msgpack
  std::string metadata; ///< as the artifact has it: a msgpack map, or nothing
  std::uint64_t payload_bytes = 0;

  friend bool operator==(const record_head&, const record_head&) = default;
};

/// Whether a record may have that type.
bool is_record_type(std::string_view text) noexcept;

/// One msgpack array of the six fields, in their order.
std::string encode_head(const record_head& head);
/// Errors: `malformed`, with the field and what is wrong.
expected<record_head> decode_head(std::string_view bytes);

} // namespace hearth::storage
