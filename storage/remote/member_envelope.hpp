// Entries that grow, in the remote tier: a hash with a field for each member. A field never changes
// and is named by what it holds, so that hosts that add at the same time keep everything, and none
// overwrites what another has added. Each member has an envelope of its own, which is signed like
// any entry. Pure functions over plain data, any thread. docs/remote-format.md describes the
// format.
#pragma once

#include "messages/member_set.hpp"
#include "storage/remote/envelope.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace hearth::storage {

/// The name of a member's field: the XXH3-128 of its msgpack form in hexadecimal.
std::string member_field(const set_member& member);

/// The bytes of a member's field, sealed as `seal_envelope` says. Empty when it cannot be sealed.
std::string seal_member(const cache_key& key, const set_member& member, const signing_keys& keys);

/// A member, or why there is none.
struct opened_member {
  envelope_fault fault = envelope_fault::none;
  set_member member; ///< set when there is no fault
};

/// The member in the field of the set `key`. The input is untrusted, as for `open_envelope`.
opened_member open_member(const cache_key& key, std::string_view field, std::string_view bytes,
                          const signing_keys& keys, std::uint64_t max_bytes);

} // namespace hearth::storage
