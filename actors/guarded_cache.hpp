// guarded_cache: entries that are valid under a condition. A key has several variants, each an
// entry under (key, digest of guard and payload), and a set of them under (key, "variant set").
//
// Owns only its requests in progress; entries are in a named cache, in each of its tiers.
#pragma once

#include "actors/shard_router.hpp"
#include "actors/shared_promise.hpp"
#include "messages/guard.hpp"
#include "messages/protocol.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace hearth::actors {

/// Guards by their text, each parsed once. Bounded: a full memo forgets all.
class parsed_guards {
public:
  static constexpr std::size_t max_guards = 4096;

  /// The guard, or why its text is none. Valid until the next call.
  const expected<guard_expression>& get(const std::string& text);
  /// How often a text was parsed.
  std::uint64_t parses() const noexcept { return parses_; }

private:
  std::unordered_map<std::string, expected<guard_expression>> known_;
  std::uint64_t parses_ = 0;
};

struct guarded_cache_state {
  static inline const char* name = "guarded_cache";

  /// A lookup that tries the variants of a key in turn.
  struct search {
    cache_key key;
    hints values;
    std::vector<set_member> variants; ///< in the order in which they are tried
    std::size_t next = 0;
    bool has_asked_fleet = false;
    std::vector<set_member> gone; ///< variants without an entry in any tier
    guarded_reply reply;
    shared_promise<guarded_reply> promise;
  };

  /// A variant that is being added to the set.
  struct addition {
    cache_key key;
    std::string guard;
    artifact value;
    shared_promise<insert_outcome> promise;
  };

  shard_router shards;
  parsed_guards guards;
};
using guarded_cache_pointer = guarded_cache_actor::stateful_pointer<guarded_cache_state>;

guarded_cache_actor::behavior_type guarded_cache(guarded_cache_pointer self, shard_router shards);

} // namespace hearth::actors
