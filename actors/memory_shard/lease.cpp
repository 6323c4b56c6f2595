#include "actors/memory_shard/lease.hpp"

#include "actors/memory_shard/held.hpp"
#include "actors/memory_shard/load.hpp"
#include "actors/memory_shard/patience.hpp"
#include "actors/memory_shard/process_lease.hpp"
#include "actors/memory_shard/write.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace hearth::actors::shard {
namespace {

// Sent after the writes made under the lease.
void release_fleet_lease(self_pointer self, const cache_key& key,
                         state_type::lease_record& record) {
  if (std::exchange(record.fleet_lease, false)) tell_remote(self, verb::release_v, key);
}

// An actor's request may have timed out before the lease arrives; the shard then takes the lease
// back. A plain thread refuses the delivery instead.
offered_lease offer(self_pointer self, lease_id id, const state_type::waiter& to) {
  if (!to.actor) return {id, {}};
  return {id,
          [shard = memory_shard_actor(self), id] { caf::anon_send(shard, verb::release_v, id); }};
}

void answer_waiters(const cache_key& key, state_type::lease_record& record,
                    const expected<lookup>& result) {
  for (auto& waiting : std::exchange(record.waiters, {})) {
    if (!result) {
      waiting.reply.deliver(fail(result.error()));
      continue;
    }
    const bool waited = waiting.waited || record.contended;
    if (waited)
      count(key, &cache_counters::waits);
    else
      count_lookup(key, result->from);
    waiting.reply.deliver(lease_reply{*result, {}, waited});
  }
}

// Takes out the waiters that joined while the remote tier was asked. Another process of the host
// may have stored the entry before they came: they get what a look after this one finds.
std::deque<state_type::waiter> late_waiters(state_type::lease_record& ended,
                                            const expected<lookup>& result) {
  std::deque<state_type::waiter> late;
  if (!result || result->from != tier::remote) return late;
  auto& all = ended.waiters;
  const auto first = std::stable_partition(
      all.begin(), all.end(), [&](const auto& waiting) { return waiting.look != ended.look; });
  std::move(first, all.end(), std::back_inserter(late));
  all.erase(first, all.end());
  return late;
}

// The record of this lease if it is held; otherwise null.
state_type::lease_record* held(state_type& state, lease_id id, cache_key& key) {
  const auto at = state.lease_keys.find(id);
  if (at == state.lease_keys.end()) return nullptr;
  key = at->second;
  auto& record = state.leases.find(key)->second;
  return record.now == phase::held ? &record : nullptr;
}

// Another process stored the entry first. Every waiter gets the stored value, or `ours` if it is no
// longer stored. The lease ends before the lookup: a request that arrives meanwhile looks for
// itself, so it cannot get a value that has been erased.
void complete_lease_with_stored(self_pointer self, const cache_key& key, const artifact& ours) {
  const auto ended = std::make_shared<state_type::lease_record>(end_lease(self, key));
  look(self, key, reply_target<lookup>([key, ended, ours](const expected<lookup>& result) {
         const bool there = result && result->hit();
         answer_waiters(key, *ended, there ? *result : lookup{tier::memory, ours});
         return true;
       }));
}

// Stores what was made under a spare lease. The record's waiters get it; its holder goes on.
void fulfil_spare(self_pointer self, const cache_key& key, const artifact& value,
                  reply_target<insert_outcome> reply) {
  insert(self, key, value, [self, key, value, reply](expected<insert_outcome> outcome) mutable {
    const auto at = self->state.leases.find(key);
    const bool is_ours = outcome && *outcome == insert_outcome::inserted;
    if (is_ours && at != self->state.leases.end())
      answer_waiters(key, at->second, lookup{tier::memory, value});
    reply.deliver(std::move(outcome));
  });
}

} // namespace

state_type::lease_record end_lease(self_pointer self, const cache_key& key) {
  auto& state = self->state;
  auto record = std::move(state.leases.extract(key).mapped());
  release_fleet_lease(self, key, record);
  release_process_lease(state, key, record);
  state.lease_keys.erase(record.id);
  return record;
}

void complete_lease(self_pointer self, const cache_key& key, const expected<lookup>& result) {
  const auto ended = std::make_shared<state_type::lease_record>(end_lease(self, key));
  auto late = late_waiters(*ended, result);
  answer_waiters(key, *ended, result);
  if (late.empty()) return;
  ended->waiters = std::move(late);
  look(self, key, reply_target<lookup>([key, ended, result](const expected<lookup>& found) {
         answer_waiters(key, *ended, found && found->hit() ? found : result);
         return true;
       }));
}

void grant(self_pointer self, const cache_key& key) {
  auto& state = self->state;
  auto& record = state.leases.find(key)->second;
  state.lease_keys.erase(record.id);
  while (!record.waiters.empty()) {
    auto next = std::move(record.waiters.front());
    record.waiters.pop_front();
    record.now = phase::held;
    record.id = ++state.last_lease;
    record.holder = next.actor;
    const bool waited = next.waited || record.contended;
    if (record.looks && next.reply.wanted()) count_lookup(key, tier::none);
    if (!next.reply.deliver(lease_reply{{}, offer(self, record.id, next), waited})) continue;
    state.lease_keys.emplace(record.id, key);
    ++state.counters.leases_granted;
    if (!record.waiters.empty()) begin_patience(self, record);
    return;
  }
  end_lease(self, key);
}

bool grant_spare(self_pointer self, const cache_key& key, state_type::waiter& waiting) {
  auto& state = self->state;
  const auto id = ++state.last_lease;
  if (state.leases.find(key)->second.looks && waiting.reply.wanted()) count_lookup(key, tier::none);
  if (!waiting.reply.deliver(lease_reply{{}, offer(self, id, waiting), true})) return false;
  state.spare_leases.emplace(id, state_type::spare_lease{key, waiting.actor});
  ++state.counters.leases_granted;
  ++state.counters.waits_ended;
  return true;
}

void prune(state_type::lease_record& record) {
  std::erase_if(record.waiters, [](const auto& waiting) { return !waiting.reply.wanted(); });
  record.prune_at = 2 * record.waiters.size() + 8;
}

void withdraw(state_type& state, const cache_key& key) {
  const auto at = state.leases.find(key);
  if (at != state.leases.end()) prune(at->second);
}

void fulfil(self_pointer self, lease_id id, const artifact& value,
            reply_target<insert_outcome> reply) {
  if (auto spare = self->state.spare_leases.extract(id); !spare.empty()) {
    count(spare.mapped().key, &cache_counters::compiles);
    return fulfil_spare(self, spare.mapped().key, value, std::move(reply));
  }
  cache_key key;
  auto* record = held(self->state, id, key);
  if (!record) {
    reply.deliver(fail(errc::lease_lost, "this lease is not held: it was ended before"));
    return;
  }
  count(key, &cache_counters::compiles);
  record->now = phase::fulfilling;
  insert(self, key, value, [self, key, value, reply](expected<insert_outcome> outcome) mutable {
    if (outcome && *outcome == insert_outcome::exists)
      complete_lease_with_stored(self, key, value);
    else
      complete_lease(self, key, lookup{tier::memory, value});
    reply.deliver(std::move(outcome));
  });
}

void abandon(self_pointer self, lease_id id, const error& why) {
  if (const auto spare = self->state.spare_leases.extract(id); !spare.empty())
    count(spare.mapped().key, &cache_counters::failures);
  cache_key key;
  if (!held(self->state, id, key)) return;
  count(key, &cache_counters::failures);
  complete_lease(self, key, fail(why));
}

void release(self_pointer self, lease_id id) {
  self->state.spare_leases.erase(id);
  cache_key key;
  if (held(self->state, id, key)) grant(self, key);
}

void forget(self_pointer self, const caf::actor_addr& gone) {
  self->state.monitored.erase(gone);
  std::erase_if(self->state.spare_leases,
                [&](const auto& spare) { return spare.second.holder == gone; });
  std::vector<lease_id> lost;
  for (auto& [key, record] : self->state.leases) {
    std::erase_if(record.waiters, [&](const auto& waiting) { return waiting.actor == gone; });
    if (record.now == phase::held && record.holder == gone) lost.push_back(record.id);
  }
  for (const auto id : lost)
    release(self, id);
}

} // namespace hearth::actors::shard
