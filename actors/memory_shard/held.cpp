#include "actors/memory_shard/held.hpp"

#include "actors/memory_shard/unpersisted.hpp"

#include <algorithm>
#include <utility>

namespace hearth::actors::shard {
namespace {

storage::memory_key in_memory(const cache_key& key) {
  return {key.cache->number, key.bytes, key.memory_hash, key.cache->lookups};
}

// Sets the hit bit on disk of entries that were hit in memory, so that disk eviction keeps them.
void mark_hits_on_disk(state_type& state) {
  if (!state.config.store) return;
  constexpr std::size_t batch = 256;
  state.config.view->index().drain_first_hits(
      batch, [&](std::uint32_t number, std::string_view bytes) {
        const auto cache = state.caches.find(number);
        if (cache != state.caches.end() && cache->second->disk)
          state.config.store->touch({cache->second->id, bytes});
      });
}

// Readers may still hold removed entries. An idle shard scans again, a bounded number of times.
void look_again(self_pointer self) {
  auto& state = self->state;
  if (state.reclaims_left == 0 || state.reclaim_is_due) return;
  if (!state.config.view->index().has_leftovers()) return;
  --state.reclaims_left;
  state.reclaim_is_due = true;
  self->delayed_send(self, state.reclaim_interval, verb::reclaim_v);
}

// Called after each change of the index.
void note_change(self_pointer self) {
  constexpr unsigned max_reclaims = 10;
  auto& state = self->state;
  state.reclaims_left = max_reclaims;
  state.reclaim_interval = state.config.first_reclaim;
  look_again(self);
}

// Remembers a cache with entries here, and sets its share of the memory budget if it has one.
void note_cache(state_type& state, const cache_key& key) {
  const auto is_new = state.caches.try_emplace(key.cache->number, key.cache).second;
  const auto share = key.cache->memory_share_bytes;
  if (is_new && share != 0)
    state.config.view->index().set_share(key.cache->number, share / state.config.all_views.size());
}

} // namespace

artifact find_in_memory(state_type& state, const cache_key& key) {
  state.config.view->refresh();
  return uses_memory(key) ? state.config.view->index().peek(in_memory(key)) : artifact{};
}

artifact get_from_memory(state_type& state, const cache_key& key) {
  state.config.view->refresh();
  return uses_memory(key) ? state.config.view->index().get(in_memory(key)) : artifact{};
}

artifact get_again_from_memory(state_type& state, const cache_key& key) {
  state.config.view->refresh();
  if (!uses_memory(key)) return {};
  return state.config.view->index().get({key.cache->number, key.bytes, key.memory_hash});
}

void reclaim(self_pointer self) {
  constexpr std::chrono::milliseconds longest{1000};
  auto& state = self->state;
  state.reclaim_is_due = false;
  state.config.view->index().reclaim();
  mark_hits_on_disk(state);
  state.reclaim_interval = std::min(state.reclaim_interval * 2, longest);
  look_again(self);
}

void keep_in_memory(self_pointer self, const cache_key& key, const artifact& value) {
  if (!uses_memory(key)) return;
  auto& state = self->state;
  note_cache(state, key);
  if (state.config.view->index().insert(in_memory(key), value)) forget_unpersisted(state, key);
  mark_hits_on_disk(state);
  note_change(self);
}

void replace_in_memory(self_pointer self, const cache_key& key, const artifact& value) {
  if (!uses_memory(key)) return;
  forget_unpersisted(self->state, key);
  note_cache(self->state, key);
  self->state.config.view->index().put(in_memory(key), value);
  note_change(self);
}

bool erase_in_memory(self_pointer self, const cache_key& key) {
  forget_unpersisted(self->state, key);
  const bool was_there = self->state.config.view->index().erase(in_memory(key));
  note_change(self);
  return was_there;
}

void clear_memory(self_pointer self) {
  self->state.config.view->index().clear();
  note_change(self);
}

std::uint64_t epoch_of(state_type& state, const cache_key& key) {
  state.config.view->refresh();
  return state.config.view->seen(disk_shard_of(state, key));
}

void tell_views(state_type& state, const cache_key& key, epoch_change epochs) {
  const auto shard = disk_shard_of(state, key);
  for (const auto& view : state.config.all_views)
    view->advance(shard, epochs);
}

void take_in_write(self_pointer self, const cache_key& key, const artifact& value,
                   epoch_change epochs) {
  const auto seen = self->state.config.view->seen(disk_shard_of(self->state, key));
  if (epochs.is_known() && (seen == epochs.before || seen == epochs.after))
    replace_in_memory(self, key, value);
  else
    erase_in_memory(self, key);
  tell_views(self->state, key, epochs);
}

void take_in_insert(self_pointer self, const cache_key& key, const artifact& value,
                    const disk_insert_reply& reply, std::optional<std::uint64_t> asked) {
  const bool is_ours = reply.outcome == insert_outcome::inserted;
  if (reply.epochs.moved() && is_ours)
    take_in_write(self, key, value, reply.epochs);
  else if (reply.epochs.moved())
    tell_views(self->state, key, reply.epochs);
  else if (is_ours && asked && epoch_of(self->state, key) == *asked)
    keep_in_memory(self, key, value);
}

void insert_on_disk(self_pointer self, const cache_key& key, const artifact& value,
                    const disk_insert_callback& next) {
  self->request(disk_of(self->state, key), caf::infinite, verb::insert_v, key, value)
      .then([next](const disk_insert_reply& reply) { next(reply); },
            [next](const caf::error& why) { next(fail(from_caf(why))); });
}

void copy_to_disk(self_pointer self, const cache_key& key, const artifact& value,
                  std::uint64_t last_change, const disk_insert_callback& next) {
  if (!self->state.config.journal) return insert_on_disk(self, key, value, next);
  self->request(disk_of(self->state, key), caf::infinite, verb::insert_v, key, value, last_change)
      .then([next](const disk_insert_reply& reply) { next(reply); },
            [next](const caf::error& why) { next(fail(from_caf(why))); });
}

} // namespace hearth::actors::shard
