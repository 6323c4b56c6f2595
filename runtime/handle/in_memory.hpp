// Caches in memory only, filled from an environment variable or a file and written to a file. Their
// values are msgpack: `typed_cache<key, value>` reads them. Any thread.
#pragma once

#include "messages/error.hpp"
#include "messages/visibility.hpp"
#include "runtime/handle/cache.hpp"

#include <filesystem>
#include <string_view>

namespace HEARTH_PUBLIC hearth {

class runtime;

/// The cache `name`, in memory only, with the entries of an environment variable:
/// `key,value;key,value`, each the padded base64 of its msgpack. White space around them, empty
/// pairs and identical repeats are allowed; a variable that is missing or empty has no entries.
///
/// Loads all entries or none. Errors, each naming the variable, the pair and the reason:
/// `malformed` (no comma, not base64, not msgpack), `invalid_key`, `invalid_value` (one key with
/// two values, or with another value in the cache already), `too_large` (it does not fit the memory
/// budget).
expected<cache> from_env_var(runtime& in, std::string_view name, std::string_view variable);

/// The same from a file that holds one msgpack map; a file that is missing has no entries. Errors
/// name the file; also `permission`, `io`, `invalid_argument` for a directory.
expected<cache> from_file_path(runtime& in, std::string_view name,
                               const std::filesystem::path& path);

/// Writes the entries of a cache in memory only to a file, atomically. Equal entries make equal
/// files. Errors: `invalid_argument` for a cache with other tiers (a bundle carries those),
/// `invalid_value` for an entry that is not msgpack or has metadata, and those of the system.
expected<void> to_file_path(const cache& from, const std::filesystem::path& path);

} // namespace hearth
