// Entries on a Redis server, for the rows that get them through the remote tier.
#pragma once

#include "bench/frame/dataset.hpp"
#include "messages/cache_key.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace hearth::bench {

/// The cache of the entries.
inline constexpr std::string_view remote_cache_name = "bench";

/// Stores all entries of `data` on the server. Throws when that fails.
void fill_remote(const std::string& url, const dataset& data);

/// The keys of `data` in the order of the requests, in the form that actors use.
key_list remote_keys(const dataset& data);

/// The bytes of an entry's envelope on the server.
std::size_t envelope_bytes(const dataset& data);

} // namespace hearth::bench
