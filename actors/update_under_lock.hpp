// Changes an entry that others may change too: takes the lock of its key, reads it, stores what the
// change makes of it, and gives the lock back. Used by an actor, on its own thread.
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

/// Makes the entry's new content from what was found (a miss: there is none yet). Nothing: the
/// entry stays as it is. Called again when another writer stored the entry meanwhile.
using entry_change = std::function<expected<std::optional<artifact>>(const lookup& found)>;

enum class update_outcome : std::uint8_t { stored, unchanged };

namespace detail {

template <class Self>
struct entry_update {
  Self self;
  memory_shard_actor shard;
  cache_key key;
  entry_change change;
  std::function<void(expected<update_outcome>)> next;
  lease_id lock = 0;
  bool was_overtaken = false;
};

template <class Self>
using entry_update_ptr = std::shared_ptr<entry_update<Self>>;

template <class Self>
void end_update(const entry_update_ptr<Self>& update, expected<update_outcome> outcome) {
  update->self->send(update->shard, verb::release_v, update->lock);
  update->next(std::move(outcome));
}

template <class Self>
auto failing(const entry_update_ptr<Self>& update) {
  return [update](const caf::error& why) { end_update(update, fail(from_caf(why))); };
}

template <class Self>
void read_and_store(const entry_update_ptr<Self>& update);

// A writer without the lock stored the entry first: the change is made of that one, once.
template <class Self>
void store_again(const entry_update_ptr<Self>& update) {
  if (std::exchange(update->was_overtaken, true))
    return end_update(update,
                      fail(errc::busy, "others write this entry past its lease; try again"));
  read_and_store(update);
}

// An entry that is not there is inserted: a put makes other processes drop what they hold in
// memory.
template <class Self>
void store_changed(const entry_update_ptr<Self>& update, const lookup& found) {
  auto changed = update->change(found);
  if (!changed) return end_update(update, fail(changed.error()));
  if (!*changed) return end_update(update, update_outcome::unchanged);
  if (found.hit())
    update->self->request(update->shard, answer_timeout, verb::put_v, update->key, **changed)
        .then([update](const done&) { end_update(update, update_outcome::stored); },
              failing(update));
  else
    update->self->request(update->shard, answer_timeout, verb::insert_v, update->key, **changed)
        .then(
            [update](insert_outcome outcome) {
              if (outcome == insert_outcome::exists)
                store_again(update);
              else
                end_update(update, update_outcome::stored);
            },
            failing(update));
}

template <class Self>
void read_and_store(const entry_update_ptr<Self>& update) {
  update->self->request(update->shard, answer_timeout, verb::get_v, update->key)
      .then([update](const lookup& found) { store_changed(update, found); }, failing(update));
}

} // namespace detail

/// Calls `next` once with what came of it. Errors: those of the lock, of reading and storing, and
/// of `change`; `busy` when another writer stores the entry again and again without the lock.
template <class Self>
void update_under_lock(Self self, const memory_shard_actor& shard, const cache_key& key,
                       entry_change change, std::function<void(expected<update_outcome>)> next) {
  const auto update = std::make_shared<detail::entry_update<Self>>(
      detail::entry_update<Self>{self, shard, key, std::move(change), std::move(next)});
  self->request(shard, caf::infinite, verb::lock_v, key)
      .then(
          [update](const lease_reply& reply) {
            update->lock = reply.lease.take();
            detail::read_and_store(update);
          },
          [update](const caf::error& why) { update->next(fail(from_caf(why))); });
}

} // namespace hearth::actors
