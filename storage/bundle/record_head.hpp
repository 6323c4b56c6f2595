// The head of a record: what a bundle states about an artifact before its payload. Pure functions
// over plain data, any thread.
#pragma once

#include "messages/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::storage {

/// The types of the records that Hearth makes. Each such record is an entry of a named cache; its
/// type says what recorded it.
inline constexpr std::string_view entry_record_type = "entry";   ///< a named cache
inline constexpr std::string_view graph_record_type = "graph";   ///< a graph cache
inline constexpr std::string_view tuning_record_type = "tuning"; ///< tunings, and their times
inline constexpr std::string_view plan_record_type = "plan";     ///< a compile plan
/// Whether a record of this type is an entry of a named cache.
bool is_entry_type(std::string_view type) noexcept;

struct record_head {
  std::string type{entry_record_type}; ///< 1 to 64 of letters, digits, '_', '-', '.'
  std::string cache;                   ///< its name, as in `cache_id`
  std::string version = "0";
  std::string key;      ///< canonical msgpack
  std::string metadata; ///< the artifact's metadata: a msgpack map, or empty
  std::uint64_t payload_bytes = 0;

  friend bool operator==(const record_head&, const record_head&) = default;
};

/// Whether a record may have the type `text`.
bool is_record_type(std::string_view text) noexcept;

/// Encodes the six fields, in their order, as one msgpack array.
std::string encode_head(const record_head& head);
/// Errors: `malformed`, with the field and the reason.
expected<record_head> decode_head(std::string_view bytes);

} // namespace hearth::storage
