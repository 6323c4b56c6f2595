// Changes an entry that other processes may change too: reads the entry, changes it and stores it,
// under the lock of its key. Used by actors, each on its own thread.
#pragma once

#include "actors/shard_router.hpp"
#include "actors/timeouts.hpp"
#include "messages/caf_compat.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace hearth::actors {

/// Makes the entry's new content from the result of reading it: a hit, a miss (no entry yet, or a
/// damaged one), or the error of the read. An empty result leaves the entry as it is. It is called
/// again when another writer stored the entry after it was read.
using entry_change =
    std::function<expected<std::optional<artifact>>(const expected<lookup>& found)>;

enum class update_outcome : std::uint8_t { stored, unchanged };

using update_callback = std::function<void(const expected<update_outcome>&)>;

namespace detail {

template <class Self>
struct entry_update {
  Self self;
  memory_shard_actor shard;
  cache_key key;
  entry_change change;
  update_callback next;
  bool was_overtaken = false;
};

template <class Self>
using entry_update_ptr = std::shared_ptr<entry_update<Self>>;

template <class Self>
auto report_failure(const entry_update_ptr<Self>& update) {
  return [update](const caf::error& why) { update->next(fail(from_caf(why))); };
}

template <class Self>
void read_and_store(const entry_update_ptr<Self>& update);

// Another writer stored the entry after it was read: makes the change to the newer entry, once.
template <class Self>
void store_again(const entry_update_ptr<Self>& update) {
  if (std::exchange(update->was_overtaken, true))
    return update->next(
        fail(errc::busy, "other writers store this entry without its lock; try again"));
  read_and_store(update);
}

// A missing entry is inserted, because a put makes the other processes of the host drop their
// memory. They hold no entries of a cache that is in the remote tier only; there a put is used,
// which also replaces an unreadable entry on the server.
inline bool is_inserted(const cache_key& key, const expected<lookup>& found) {
  return found && !found->hit() && (key.cache->memory || key.cache->disk);
}

template <class Self>
void store_changed(const entry_update_ptr<Self>& update, const expected<lookup>& found) {
  const auto changed = update->change(found);
  if (!changed) return update->next(fail(changed.error()));
  if (!*changed) return update->next(update_outcome::unchanged);
  if (is_inserted(update->key, found))
    update->self->request(update->shard, answer_timeout, verb::insert_v, update->key, **changed)
        .then(
            [update](insert_outcome outcome) {
              if (outcome == insert_outcome::exists)
                store_again(update);
              else
                update->next(update_outcome::stored);
            },
            report_failure(update));
  else
    update->self->request(update->shard, answer_timeout, verb::put_v, update->key, **changed)
        .then([update](const done&) { update->next(update_outcome::stored); },
              report_failure(update));
}

template <class Self>
void read_and_store(const entry_update_ptr<Self>& update) {
  update->self->request(update->shard, answer_timeout, verb::get_v, update->key)
      .then([update](const lookup& found) { store_changed(update, found); },
            [update](const caf::error& failure) {
              const auto why = from_caf(failure);
              // The disk has dropped the damaged entry, so there is none.
              if (why.code() == errc::corrupt) return store_changed(update, lookup{});
              store_changed(update, fail(why));
            });
}

} // namespace detail

/// Changes the entry that the caller has read as `found`, and calls `next` once with the outcome.
/// The caller holds a lock that all writers of the entry take, or the change is right without one.
/// Errors: those of reading and storing, and of `change`; `busy` when another writer stores the
/// entry again and again.
template <class Self>
void update_entry(Self self, const memory_shard_actor& shard, const cache_key& key,
                  const lookup& found, entry_change change, update_callback next) {
  detail::store_changed(std::make_shared<detail::entry_update<Self>>(detail::entry_update<Self>{
                            self, shard, key, std::move(change), std::move(next)}),
                        found);
}

/// As above, for an entry that the caller has not read.
template <class Self>
void update_entry(Self self, const memory_shard_actor& shard, const cache_key& key,
                  entry_change change, update_callback next) {
  detail::read_and_store(std::make_shared<detail::entry_update<Self>>(
      detail::entry_update<Self>{self, shard, key, std::move(change), std::move(next)}));
}

/// What to do if the lock is not available, for example because the store's lease file fails.
enum class without_lock : std::uint8_t { fails, goes_on };

/// As above, under the lock of the key, which it takes and releases. With `fails`, an error of the
/// lock is an error of the update, and nothing is changed.
template <class Self>
void update_under_lock(Self self, const memory_shard_actor& shard, const cache_key& key,
                       without_lock policy, entry_change change, update_callback next) {
  self->request(shard, until_it_ends, verb::lock_v, key)
      .then(
          [=](const lease_reply& reply) {
            const auto lock = reply.lease.take();
            update_entry(self, shard, key, change, [=](const expected<update_outcome>& outcome) {
              self->send(shard, verb::release_v, lock);
              next(outcome);
            });
          },
          [=](const caf::error& why) {
            if (policy == without_lock::fails) return next(fail(from_caf(why)));
            update_entry(self, shard, key, change, next);
          });
}

/// Stores the value in place of any earlier one, and calls `next` once with the outcome. An entry
/// with the same bytes is left as it is.
template <class Self>
void replace_entry(Self self, const shard_router& shards, const cache_key& key,
                   const artifact& value, update_callback next) {
  update_entry(
      self, shards.owner_of(key), key,
      [value](const expected<lookup>& found) -> expected<std::optional<artifact>> {
        if (found && found->hit() && same_bytes(found->value, value))
          return std::optional<artifact>();
        return std::optional(value);
      },
      std::move(next));
}

} // namespace hearth::actors
