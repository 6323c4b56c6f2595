// Entries on a Redis, for the rows that get them through the remote tier.
#pragma once

#include "bench/frame/dataset.hpp"
#include "messages/cache_key.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace hearth::bench {

/// The cache that the entries are of.
inline constexpr std::string_view remote_cache_name = "bench";

/// Has all entries of `data` on the server. Throws when it cannot.
void fill_remote(const std::string& url, const dataset& data);

/// The keys of `data` in the order in which they are asked for, as actors name them.
key_list remote_keys(const dataset& data);

/// What an entry takes on the server, bytes.
std::size_t envelope_bytes(const dataset& data);

} // namespace hearth::bench
