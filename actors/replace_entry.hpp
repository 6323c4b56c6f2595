// Stores an entry in place of an earlier one. Used by actors, each on its own thread.
#pragma once

#include "actors/shard_router.hpp"
#include "actors/timeouts.hpp"
#include "messages/caf_compat.hpp"

#include <functional>

namespace hearth::actors {

using replace_callback = std::function<void(const expected<done>&)>;

namespace detail {

template <class Self>
void put_entry(Self self, const memory_shard_actor& shard, const cache_key& key,
               const artifact& value, const replace_callback& next) {
  self->request(shard, answer_timeout, verb::put_v, key, value)
      .then([next](const done& stored) { next(stored); },
            [next](const caf::error& why) { next(fail(from_caf(why))); });
}

// A missing entry is inserted, because a put makes the other processes of the host drop their
// memory. They hold no entries of a cache that is in the remote tier only; there a put is used,
// which also replaces an unreadable entry on the server.
template <class Self>
void store_missing(Self self, const memory_shard_actor& shard, const cache_key& key,
                   const artifact& value, const replace_callback& next) {
  if (!key.cache->memory && !key.cache->disk) return put_entry(self, shard, key, value, next);
  self->request(shard, answer_timeout, verb::insert_v, key, value)
      .then(
          [=](insert_outcome outcome) {
            if (outcome == insert_outcome::inserted) return next(done{});
            put_entry(self, shard, key, value, next); // another writer stored one meanwhile
          },
          [next](const caf::error& why) { next(fail(from_caf(why))); });
}

} // namespace detail

/// Stores the value in place of any earlier one, and calls `next` once with the outcome. An entry
/// with the same bytes is left as it is; one that cannot be read is replaced.
template <class Self>
void replace_entry(Self self, const shard_router& shards, const cache_key& key,
                   const artifact& value, const replace_callback& next) {
  const auto shard = shards.owner_of(key);
  self->request(shard, answer_timeout, verb::get_v, key)
      .then(
          [=](const lookup& found) {
            if (!found.hit()) return detail::store_missing(self, shard, key, value, next);
            if (same_bytes(found.value, value)) return next(done{});
            detail::put_entry(self, shard, key, value, next);
          },
          [=](const caf::error&) { detail::put_entry(self, shard, key, value, next); });
}

} // namespace hearth::actors
