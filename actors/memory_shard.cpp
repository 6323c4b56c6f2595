#include "actors/memory_shard.hpp"

#include "actors/memory_shard/acquire.hpp"
#include "actors/memory_shard/held.hpp"
#include "actors/memory_shard/lease.hpp"
#include "actors/memory_shard/load.hpp"
#include "actors/memory_shard/patience.hpp"
#include "actors/memory_shard/process_lease.hpp"
#include "actors/memory_shard/sets.hpp"
#include "actors/memory_shard/unpersisted.hpp"
#include "actors/memory_shard/write.hpp"

#include <utility>

namespace hearth::actors {
namespace {

using shard::phase;
using shard::state_type;

// The waiter for the actor whose request is being handled; the shard monitors that actor.
state_type::waiter requester(shard::self_pointer self) {
  auto who = caf::actor_cast<caf::actor_addr>(self->current_sender());
  if (who && self->state.monitored.insert(who).second) self->monitor(who);
  return {reply_target<lease_reply>(self->make_response_promise<lease_reply>()), who, false};
}

entry_list entries_of(const state_type& state, std::uint32_t cache) {
  entry_list result;
  state.config.view->index().each(
      cache, [&](std::string_view key, const artifact& value) { result.emplace_back(key, value); });
  return result;
}

shard::insert_callback callback_to(reply_target<insert_outcome> reply) {
  return [reply](expected<insert_outcome> outcome) mutable { reply.deliver(std::move(outcome)); };
}

} // namespace

memory_shard_stats stats_of(const memory_shard_state& state) {
  auto result = state.counters;
  const auto index = state.config.view->index().stats();
  result.entries = index.entries;
  result.bytes_used = index.bytes_used;
  result.budget_bytes = index.budget_bytes;
  result.hits = index.hits;
  result.misses = index.misses;
  result.inserted = index.inserted;
  result.evicted = index.evicted;
  result.erased = index.erased;
  result.unpersisted = state.unpersisted_count();
  for (const auto& [key, record] : state.leases) {
    result.leases_held += record.now == phase::held;
    result.leases_waiting += record.waiters.size();
  }
  result.leases_held += state.spare_leases.size();
  return result;
}

memory_shard_actor::behavior_type memory_shard(shard::self_pointer self,
                                               memory_shard_config config) {
  self->state.config = std::move(config);
  self->set_down_handler([self](const caf::down_msg& down) { shard::forget(self, down.source); });
  return {
      [self](verb::get, const cache_key& key) {
        auto promise = self->make_response_promise<lookup>();
        shard::get(self, key, promise);
        return promise;
      },
      [self](verb::get, const cache_key& key, const lookup_completion& reply) {
        shard::get(self, key, reply);
      },
      [self](verb::get, const get_batch_ptr& batch, std::uint64_t first, std::uint64_t last) {
        shard::get_some(self, batch, first, last);
      },
      [self](verb::insert, const cache_key& key, const artifact& value) {
        auto promise = self->make_response_promise<insert_outcome>();
        shard::insert(self, key, value, callback_to(promise));
        return promise;
      },
      [self](verb::insert, const cache_key& key, const artifact& value,
             const insert_completion& reply) {
        shard::insert(self, key, value, callback_to(reply));
      },
      [self](verb::put, const cache_key& key, const artifact& value) {
        auto promise = self->make_response_promise<done>();
        shard::put(self, key, value, promise);
        return promise;
      },
      [self](verb::put, const cache_key& key, const artifact& value, const done_completion& reply) {
        shard::put(self, key, value, reply);
      },
      [self](verb::erase, const cache_key& key) {
        auto promise = self->make_response_promise<bool>();
        shard::erase(self, key, promise);
        return promise;
      },
      [self](verb::erase, const cache_key& key, const flag_completion& reply) {
        shard::erase(self, key, reply);
      },
      [self](verb::purge, const cache_key& key) {
        auto promise = self->make_response_promise<bool>();
        shard::purge(self, key, promise);
        return promise;
      },
      [self](verb::find_set, const cache_key& key) {
        auto promise = self->make_response_promise<lookup>();
        shard::find_set(self, key, promise);
        return promise;
      },
      [self](verb::refresh, const cache_key& key, const set_limits& limits) {
        auto promise = self->make_response_promise<set_lookup>();
        shard::refresh_set(self, key, limits, promise);
        return promise;
      },
      [self](verb::merge, const cache_key& key, const set_change& change) {
        auto promise = self->make_response_promise<set_reply>();
        shard::merge_set(self, key, change, promise);
        return promise;
      },
      [self](verb::acquire, const cache_key& key) {
        auto waiting = requester(self);
        auto promise = waiting.reply;
        shard::acquire(self, key, std::move(waiting));
        return promise.promise();
      },
      [self](verb::acquire, const cache_key& key, const lease_completion& reply) {
        shard::acquire(self, key, {reply, {}, false});
      },
      [self](verb::lock, const cache_key& key) {
        auto waiting = requester(self);
        auto promise = waiting.reply;
        shard::lock(self, key, std::move(waiting));
        return promise.promise();
      },
      [self](verb::fulfil, lease_id id, const artifact& value) {
        auto promise = self->make_response_promise<insert_outcome>();
        shard::fulfil(self, id, value, promise);
        return promise;
      },
      [self](verb::fulfil, lease_id id, const artifact& value, const insert_completion& reply) {
        shard::fulfil(self, id, value, reply);
      },
      [self](verb::abandon, lease_id id, const error& why) { shard::abandon(self, id, why); },
      [self](verb::release, lease_id id) { shard::release(self, id); },
      [self](verb::withdraw, const cache_key& key) { shard::withdraw(self->state, key); },
      [self](verb::promote, const cache_key& key, const artifact& value, std::uint64_t epoch) {
        shard::promote(self, key, value, epoch);
      },
      [self](verb::poll_lease) { shard::poll_leases(self); },
      [self](verb::poll_fleet, const cache_key& key) { shard::poll_fleet(self, key); },
      [self](verb::beat) { shard::beat(self); },
      [self](verb::end_waits) { shard::end_waits(self); },
      [self](verb::ask_remote) { shard::ask_remote(self); },
      [self](verb::persist) { shard::flush_unpersisted(self); },
      [self](verb::reclaim) { shard::reclaim(self); },
      [self](verb::list, std::uint32_t cache) { return entries_of(self->state, cache); },
      [self](verb::clear) {
        shard::clear_memory(self);
        return done{};
      },
      [self](verb::stats) { return stats_of(self->state); },
  };
}

} // namespace hearth::actors
