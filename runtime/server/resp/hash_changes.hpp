// Changes of hashes in one step, for the commands and the scripts that make them. On the
// connection's thread.
#pragma once

#include "runtime/server/entries/hash_fields.hpp"
#include "runtime/server/resp/resp_session.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace hearth::server {

/// Changes the hash of this key in the own namespace, alone among the changes of the key, and
/// replies with the number that `change` returns. A hash without fields is no entry. `expires`:
/// the hash's new expiry; empty: it keeps the one that it has.
void change_hash(resp_session& in, const std::string& key,
                 std::function<std::int64_t(hash_fields&)> change,
                 std::optional<expiry_ms> expires = {});

/// Adds the pairs of these words from `first` on. Returns how many fields are new.
std::int64_t add_pairs(hash_fields& to, const resp_words& words, std::size_t first);

} // namespace hearth::server
