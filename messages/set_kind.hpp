// The kinds of entries that grow (docs/architecture.md, "Entries that grow"): the last part of the
// keys of their sets, and the limits of a set. Plain values, any thread.
#pragma once

#include "messages/action.hpp"
#include "messages/member_set.hpp"

#include <string_view>

namespace hearth {

/// A set of this kind that belongs to a key has the derived key (`key`, `part`).
struct set_kind {
  std::string_view part; ///< a text
  set_limits limits;
};

/// The variants of a guarded key.
inline constexpr set_kind variant_sets{"variant set", {}};
/// The tree of a nested cache.
inline constexpr set_kind path_sets{"path set", {65'536, std::size_t{16} << 20}};
/// A bundle of tunings.
inline constexpr set_kind tuning_sets{"tuning set", {65'536, std::size_t{16} << 20}};
/// The observations of an action.
inline constexpr set_kind observation_sets{"observation set", observation_limits};

/// The kind of the set that has this key, a key's msgpack; null for a key of another form.
const set_kind* set_kind_of(std::string_view key_bytes);

} // namespace hearth
