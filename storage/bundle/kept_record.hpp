// Records of types that nobody here knows, kept as entries of a cache of their own, so that the
// next export carries them on. Pure functions over plain data, any thread.
#pragma once

#include "messages/key.hpp"
#include "storage/bundle/record_head.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace hearth::storage {

/// The cache that keeps them.
inline constexpr std::string_view kept_records_cache = "unknown-artifacts";

/// The key of its entry there: (type, cache, version, SHA-256 of the key).
key key_of_kept(const record_head& head);
/// The metadata of its entry there, which holds the whole head.
std::string metadata_of_kept(const record_head& head);
/// The head that such metadata holds; nothing when it is something else.
std::optional<record_head> kept_head(std::string_view metadata);

} // namespace hearth::storage
