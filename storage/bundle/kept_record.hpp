// Records of unknown types, kept as entries of a cache of their own, so that the next export
// contains them. Pure functions over plain data, any thread.
#pragma once

#include "messages/key.hpp"
#include "storage/bundle/record_head.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace hearth::storage {

/// The cache that keeps these records.
inline constexpr std::string_view kept_records_cache = "unknown-artifacts";

/// The key of a record's entry in that cache: (type, cache, version, SHA-256 of the key).
key key_of_kept(const record_head& head);
/// The metadata of a record's entry in that cache, which holds the whole head.
std::string metadata_of_kept(const record_head& head);
/// The head in such metadata; nothing when the metadata has another form.
std::optional<record_head> kept_head(std::string_view metadata);

} // namespace hearth::storage
