// Where the variants of a guarded key are stored: each is an entry of its own, and a set names them
// (docs/architecture.md, "Entries that grow"). Pure functions, any thread.
#pragma once

#include "messages/artifact.hpp"
#include "messages/cache_key.hpp"

#include <string>
#include <string_view>

namespace hearth {

/// The set of a key's variants: ids are those of the variants, contents are guards.
cache_key variants_key(const cache_key& base);

/// The id of a variant: SHA-256 of its guard and its payload, raw.
std::string variant_id(std::string_view guard, const artifact& value);
/// The entry of the variant with this id.
cache_key variant_key(const cache_key& base, std::string_view id);

} // namespace hearth
