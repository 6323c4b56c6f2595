#include "actors/memory_shard/acquire.hpp"

#include "actors/memory_shard/held.hpp"
#include "actors/memory_shard/lease.hpp"
#include "actors/memory_shard/load.hpp"
#include "actors/memory_shard/patience.hpp"
#include "actors/memory_shard/process_lease.hpp"

#include <algorithm>
#include <utility>

namespace hearth::actors::shard {
namespace {

void poll_later(self_pointer self) {
  auto& state = self->state;
  if (std::exchange(state.poll_is_due, true)) return;
  self->delayed_send(self, state.poll_interval, verb::poll_lease_v);
}

// Looks in all tiers.
void begin_look(self_pointer self, const cache_key& key, phase now) {
  auto& record = self->state.leases.find(key)->second;
  record.now = now;
  ++record.look;
}

void recheck(self_pointer self, const cache_key& key) {
  begin_look(self, key, phase::rechecking);
  look(self, key, reply_target<lookup>([self, key](const expected<lookup>& result) {
         if (result && result->hit())
           complete_lease(self, key, result);
         else
           grant(self, key);
         return true;
       }));
}

// The process (and fleet) lease is held. Another process may have stored the entry before it was
// granted, so the tiers are read once more.
void use_lease(self_pointer self, const cache_key& key) {
  if (self->state.leases.find(key)->second.looks)
    recheck(self, key);
  else
    grant(self, key);
}

void wait_for_fleet(self_pointer self, const cache_key& key) {
  auto& state = self->state;
  auto& record = state.leases.find(key)->second;
  record.now = phase::away;
  record.contended = true;
  note_wait(self, record);
  record.fleet_poll = std::clamp(record.fleet_poll * 2, state.config.shortest_fleet_poll,
                                 state.config.longest_fleet_poll);
  self->delayed_send(self, record.fleet_poll, verb::poll_fleet_v, key);
}

// Asks the remote tier for the fleet's lease, on behalf of this host. If the remote tier cannot
// tell who holds it, the compile goes on without a fleet lease.
void try_fleet_lease(self_pointer self, const cache_key& key) {
  auto& state = self->state;
  auto& record = state.leases.find(key)->second;
  if (!uses_remote(state, key))
    return record.process_lease ? use_lease(self, key) : grant(self, key);
  record.now = phase::asking;
  self->request(state.config.remote, caf::infinite, verb::lock_v, key)
      .then(
          [self, key](fleet_lease outcome) {
            if (outcome == fleet_lease::elsewhere) return wait_for_fleet(self, key);
            self->state.leases.find(key)->second.fleet_lease = outcome == fleet_lease::ours;
            use_lease(self, key);
          },
          [self, key](const caf::error&) { use_lease(self, key); });
}

// Takes the process lease, or starts polling for it when another process holds it.
void try_process_lease(self_pointer self, const cache_key& key) {
  auto& state = self->state;
  auto& record = state.leases.find(key)->second;
  if (take_process_lease(self, key, record)) return try_fleet_lease(self, key);
  if (!std::exchange(record.contended, true)) state.poll_interval = state.config.shortest_poll;
  record.now = phase::elsewhere;
  note_wait(self, record);
  poll_later(self);
}

void lease_unless_found(self_pointer self, const cache_key& key, const expected<lookup>& result) {
  if (result && result->hit())
    complete_lease(self, key, result);
  else
    try_process_lease(self, key);
}

void look_then_lease(self_pointer self, const cache_key& key) {
  begin_look(self, key, phase::looking);
  look(self, key, reply_target<lookup>([self, key](const expected<lookup>& result) {
         lease_unless_found(self, key, result);
         return true;
       }));
}

// As above without a remote lookup; the process that holds the host's lease does that lookup.
void look_here_then_lease(self_pointer self, const cache_key& key) {
  auto& state = self->state;
  state.leases.find(key)->second.now = phase::looking;
  if (auto value = find_in_memory(state, key))
    return lease_unless_found(self, key, lookup{tier::memory, std::move(value)});
  ++state.counters.loads;
  ask_disk(self, key,
           [self, key](const expected<lookup>& result) { lease_unless_found(self, key, result); });
}

// Adds a waiter for this lease. Returns the record if this is its first waiter.
state_type::lease_record* join(self_pointer self, const cache_key& key,
                               state_type::waiter waiting) {
  auto& state = self->state;
  auto [at, is_new] = state.leases.try_emplace(key);
  auto& record = at->second;
  waiting.waited = !is_new;
  waiting.look = record.look;
  if (record.waiters.size() >= record.prune_at) prune(record);
  // Nobody waits longer than for a patience, also behind a holder without other waiters.
  if (record.waiters.empty()) begin_patience(self, record);
  record.waiters.push_back(std::move(waiting));
  return is_new ? &record : nullptr;
}

// Whether a waiter is left that has not given up.
bool is_wanted(state_type& state, const cache_key& key) {
  auto& record = state.leases.find(key)->second;
  prune(record);
  return !record.waiters.empty();
}

} // namespace

void acquire(self_pointer self, const cache_key& key, state_type::waiter waiting) {
  auto& state = self->state;
  if (auto value = find_in_memory(state, key)) {
    count_lookup(key, tier::memory);
    waiting.reply.deliver(lease_reply{{tier::memory, std::move(value)}, {}, false});
    return;
  }
  if (join(self, key, std::move(waiting))) look_then_lease(self, key);
}

void lock(self_pointer self, const cache_key& key, state_type::waiter waiting) {
  auto* record = join(self, key, std::move(waiting));
  if (!record) return;
  record->looks = false;
  try_process_lease(self, key);
}

void poll_leases(self_pointer self) {
  auto& state = self->state;
  state.poll_is_due = false;
  state.poll_interval = std::min(state.poll_interval * 2, state.config.longest_poll);
  std::vector<cache_key> elsewhere;
  for (const auto& [key, record] : state.leases)
    if (record.now == phase::elsewhere) elsewhere.push_back(key);
  for (const auto& key : elsewhere) {
    if (!is_wanted(state, key))
      end_lease(self, key);
    else if (state.leases.find(key)->second.looks)
      look_here_then_lease(self, key);
    else
      try_process_lease(self, key);
  }
}

void poll_fleet(self_pointer self, const cache_key& key) {
  auto& state = self->state;
  const auto at = state.leases.find(key);
  if (at == state.leases.end() || at->second.now != phase::away) return;
  if (!is_wanted(state, key)) {
    end_lease(self, key);
  } else if (at->second.looks) {
    look_then_lease(self, key);
  } else {
    try_fleet_lease(self, key);
  }
}

} // namespace hearth::actors::shard
