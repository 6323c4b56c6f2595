#include "actors/memory_shard.hpp"

#include <algorithm>
#include <utility>

namespace hearth::actors {
namespace {

using self_pointer = memory_shard_actor::stateful_pointer<memory_shard_state>;
using state_type = memory_shard_state;
using phase = state_type::lease_record::phase;
using insert_callback = std::function<void(expected<insert_outcome>)>;
using lookup_callback = std::function<void(expected<lookup>)>;
using load_ptr = state_type::load_ptr;

storage::memory_key in_memory(const cache_key& key) {
  return {key.cache->number, key.bytes, key.memory_hash};
}

bool uses_memory(const cache_key& key) { return key.cache->memory; }

bool uses_disk(const state_type& state, const cache_key& key) {
  return key.cache->disk && state.config.store;
}

bool uses_remote(const state_type& state, const cache_key& key) {
  return key.cache->remote && state.config.remote;
}

unsigned disk_shard_of(const state_type& state, const cache_key& key) {
  return state.config.store->shard_of(key.disk_hash);
}

const disk_shard_actor& disk_of(const state_type& state, const cache_key& key) {
  return state.config.disk_shards[disk_shard_of(state, key)];
}

// --- the index ---------------------------------------------------------------------------------

// For ourselves: no hit and no miss of anybody's.
artifact find_in_memory(state_type& state, const cache_key& key) {
  state.config.view->refresh();
  return uses_memory(key) ? state.config.view->index().peek(in_memory(key)) : artifact{};
}

artifact get_from_memory(state_type& state, const cache_key& key) {
  state.config.view->refresh();
  return uses_memory(key) ? state.config.view->index().get(in_memory(key)) : artifact{};
}

// Marks on disk what was hit in memory, so that the hottest entries do not look cold there.
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

// Readers may hold what went: an idle shard looks again, a bounded number of times.
void look_again(self_pointer self) {
  auto& state = self->state;
  if (state.ticks_left == 0 || state.tick_is_due) return;
  if (!state.config.view->index().has_leftovers()) return;
  --state.ticks_left;
  state.tick_is_due = true;
  self->delayed_send(self, state.tick_interval, verb::tick_v);
}

void tick(self_pointer self) {
  constexpr std::chrono::milliseconds longest{1000};
  auto& state = self->state;
  state.tick_is_due = false;
  state.config.view->index().reclaim();
  mark_hits_on_disk(state);
  state.tick_interval = std::min(state.tick_interval * 2, longest);
  look_again(self);
}

// After each change of the index.
void note_change(self_pointer self) {
  constexpr unsigned most_ticks = 10;
  auto& state = self->state;
  state.ticks_left = most_ticks;
  state.tick_interval = state.config.first_tick;
  look_again(self);
}

// Notes a cache that is kept here; one with a share of its own gets it.
void note_cache(state_type& state, const cache_key& key) {
  const auto is_new = state.caches.try_emplace(key.cache->number, key.cache).second;
  const auto share = key.cache->memory_share_bytes;
  if (is_new && share != 0)
    state.config.view->index().set_share(key.cache->number, share / state.config.all_views.size());
}

void keep_in_memory(self_pointer self, const cache_key& key, const artifact& value) {
  if (!uses_memory(key)) return;
  auto& state = self->state;
  note_cache(state, key);
  state.config.view->index().insert(in_memory(key), value);
  mark_hits_on_disk(state);
  note_change(self);
}

// A put or erase of ours moved the epoch of a disk shard: no view has to start over for it.
void tell_views(state_type& state, const cache_key& key, std::uint64_t before,
                std::uint64_t after) {
  const auto shard = disk_shard_of(state, key);
  for (const auto& view : state.config.all_views)
    view->advance(shard, before, after);
}

// What the disk answers is as of some time between the question and the answer. It may be kept when
// the disk shard's epoch was the same at both ends: else it may have been replaced meanwhile.
class unmoved {
public:
  unmoved(state_type& state, const cache_key& key)
      : view_(*state.config.view)
      , shard_(disk_shard_of(state, key)) {
    view_.refresh();
    before_ = view_.seen(shard_);
  }
  explicit operator bool() const {
    view_.refresh();
    return view_.seen(shard_) == before_;
  }

private:
  storage::memory_view& view_;
  unsigned shard_;
  std::uint64_t before_;
};

// --- what a write changes in memory -------------------------------------------------------------

void replace_in_memory(self_pointer self, const cache_key& key, const artifact& value) {
  if (!uses_memory(key)) return;
  note_cache(self->state, key);
  self->state.config.view->index().put(in_memory(key), value);
  note_change(self);
}

bool erase_in_memory(self_pointer self, const cache_key& key) {
  const bool was_there = self->state.config.view->index().erase(in_memory(key));
  note_change(self);
  return was_there;
}

// A write of ours moved the epoch from `before` (0: somebody else did too) to `after`. When the
// view has taken in anything else, somebody may have replaced the entry since.
void take_in_write(self_pointer self, const cache_key& key, const artifact& value,
                   std::uint64_t before, std::uint64_t after) {
  const auto seen = self->state.config.view->seen(disk_shard_of(self->state, key));
  if (before != 0 && (seen == before || seen == after))
    replace_in_memory(self, key, value);
  else
    erase_in_memory(self, key);
  tell_views(self->state, key, before, after);
}

// The same of an insert. The epoch moves in its group when a put is in it, or when its key may have
// been dropped by the disk: then the memory of other processes may hold it still.
void take_in_insert(self_pointer self, const cache_key& key, const artifact& value,
                    insert_outcome outcome, std::uint64_t before, std::uint64_t after) {
  if (outcome == insert_outcome::inserted)
    take_in_write(self, key, value, before, after);
  else
    tell_views(self->state, key, before, after);
}

// --- get: memory, disk, remote -----------------------------------------------------------------

using waiter_list = std::vector<answer<lookup>>;

void deliver_all(waiter_list waiters, const expected<lookup>& result) {
  for (auto& waiting : waiters)
    waiting.deliver(result);
}

// Ends a load: who asks from now on begins another. Those who waited are the caller's to answer.
waiter_list end_load(state_type& state, const cache_key& key, const load_ptr& load) {
  const auto at = state.loads.find(key);
  if (at != state.loads.end() && at->second == load) state.loads.erase(at);
  return std::exchange(load->waiters, {});
}

// A put or erase begins: who asks from now on is not told of what was there before.
void overtake_load(state_type& state, const cache_key& key) {
  const auto node = state.loads.extract(key);
  if (!node.empty()) node.mapped()->overtaken = true;
}

std::uint64_t epoch_of(state_type& state, const cache_key& key) {
  state.config.view->refresh();
  return state.config.view->seen(disk_shard_of(state, key));
}

// Fills the tiers that a hit in the remote tier passed on its way, unless somebody wrote meanwhile.
void keep_remote_hit(self_pointer self, const cache_key& key, const artifact& value,
                     const load_ptr& load) {
  auto& state = self->state;
  if (load->overtaken) return;
  if (!uses_disk(state, key)) return keep_in_memory(self, key, value);
  if (epoch_of(state, key) != load->epoch) return;
  self->request(disk_of(state, key), caf::infinite, verb::insert_v, key, value)
      .then(
          [self, key, value, load](insert_outcome outcome, std::uint64_t before,
                                   std::uint64_t after) {
            const bool is_ours = outcome == insert_outcome::inserted && !load->overtaken;
            if (before != after)
              take_in_insert(self, key, value,
                             is_ours ? insert_outcome::inserted : insert_outcome::exists, before,
                             after);
            else if (is_ours && epoch_of(self->state, key) == load->epoch)
              keep_in_memory(self, key, value);
          },
          [self, key, value, load](const caf::error&) {
            if (!load->overtaken) keep_in_memory(self, key, value);
          });
}

// What the disk has, kept in memory as well.
void ask_disk(self_pointer self, const cache_key& key, const lookup_callback& next) {
  auto& state = self->state;
  if (!uses_disk(state, key)) return next(lookup{});
  const unmoved same(state, key);
  self->request(disk_of(state, key), caf::infinite, verb::load_v, key)
      .then(
          [self, key, next, same](const lookup& found) {
            if (found.hit() && same) keep_in_memory(self, key, found.value);
            next(found);
          },
          [next](const caf::error& why) { next(fail(from_caf(why))); });
}

// Whoever asked after the disk had been looked at is told what it has now, and what the remote tier
// said when it has nothing.
void end_remote_load(self_pointer self, const cache_key& key, const load_ptr& load,
                     const lookup& found) {
  auto early = end_load(self->state, key, load);
  waiter_list late(
      std::make_move_iterator(early.begin() + static_cast<std::ptrdiff_t>(load->before_disk)),
      std::make_move_iterator(early.end()));
  early.erase(early.begin() + static_cast<std::ptrdiff_t>(load->before_disk), early.end());
  deliver_all(std::move(early), found);
  if (late.empty()) return;
  ask_disk(self, key, [late = std::move(late), found](const expected<lookup>& stored) {
    deliver_all(late, stored && !stored->hit() ? found : stored);
  });
}

void load_from_remote(self_pointer self, const cache_key& key, const load_ptr& load) {
  auto& state = self->state;
  load->before_disk = load->waiters.size();
  if (!uses_remote(state, key)) return end_remote_load(self, key, load, {});
  self->request(state.config.remote, caf::infinite, verb::get_v, key)
      .then(
          [self, key, load](const lookup& found) {
            if (found.hit()) keep_remote_hit(self, key, found.value, load);
            end_remote_load(self, key, load, found);
          },
          [self, key, load](const caf::error&) { end_remote_load(self, key, load, {}); });
}

void load_from_disk(self_pointer self, const cache_key& key, const load_ptr& load) {
  if (uses_disk(self->state, key)) load->epoch = epoch_of(self->state, key);
  ask_disk(self, key, [self, key, load](const expected<lookup>& found) {
    if (found && !found->hit())
      load_from_remote(self, key, load);
    else
      deliver_all(end_load(self->state, key, load), found);
  });
}

// Looks below memory, or joins a look that is under way.
void load(self_pointer self, const cache_key& key, answer<lookup> reply) {
  auto& state = self->state;
  auto [at, is_first] = state.loads.try_emplace(key);
  if (is_first) at->second = std::make_shared<state_type::load_record>();
  const auto load = at->second;
  load->waiters.push_back(std::move(reply));
  ++(is_first ? state.counters.loads : state.counters.coalesced);
  if (is_first) load_from_disk(self, key, load);
}

void get(self_pointer self, const cache_key& key, answer<lookup> reply) {
  if (auto value = get_from_memory(self->state, key))
    reply.deliver(lookup{tier::memory, std::move(value)});
  else
    load(self, key, std::move(reply));
}

// The same for ourselves.
void look(self_pointer self, const cache_key& key, answer<lookup> reply) {
  if (auto value = find_in_memory(self->state, key))
    reply.deliver(lookup{tier::memory, std::move(value)});
  else
    load(self, key, std::move(reply));
}

// The items of a batch that this shard owns.
void get_some(self_pointer self, const get_batch_ptr& batch, std::size_t first, std::size_t last) {
  auto& view = *self->state.config.view;
  view.refresh();
  const auto& index = view.index();
  for (auto i = first; i < last; ++i)
    index.prefetch(batch->memory_hash(i));
  for (auto i = first; i < last; ++i)
    index.prefetch_entry(batch->memory_hash(i));
  std::size_t hits = 0;
  for (auto i = first; i < last; ++i) {
    const auto& cache = *batch->cache();
    artifact value;
    if (cache.memory) value = index.get({cache.number, batch->key_bytes(i), batch->memory_hash(i)});
    if (value) {
      batch->answer_quietly(i, lookup{tier::memory, std::move(value)});
      ++hits;
      continue;
    }
    load(self, batch->key(i), answer<lookup>([batch, i](const expected<lookup>& result) {
           batch->answer(i, result);
           return true;
         }));
  }
  batch->settle(hits);
}

// --- insert, put, erase ------------------------------------------------------------------------

// Has a change written behind to the remote tier.
template <class Verb, class... Parts>
void tell_remote(self_pointer self, Verb what, const cache_key& key, const Parts&... parts) {
  if (uses_remote(self->state, key)) self->send(self->state.config.remote, what, key, parts...);
}

// An insert that the disk was asked for.
struct insert_record {
  cache_key key;
  artifact value;
  insert_callback next;
  unmoved same;
};

void end_insert(self_pointer self, const insert_record& write, insert_outcome outcome,
                std::uint64_t before, std::uint64_t after) {
  if (before != after)
    take_in_insert(self, write.key, write.value, outcome, before, after);
  else if (outcome == insert_outcome::inserted && write.same)
    keep_in_memory(self, write.key, write.value);
  if (outcome == insert_outcome::inserted)
    tell_remote(self, verb::insert_v, write.key, write.value);
  write.next(outcome);
}

// Memory serves although the disk is ill.
void end_failed_insert(self_pointer self, const insert_record& write, const caf::error& why) {
  keep_in_memory(self, write.key, write.value);
  tell_remote(self, verb::insert_v, write.key, write.value);
  write.next(fail(from_caf(why)));
}

void insert(self_pointer self, const cache_key& key, const artifact& value,
            const insert_callback& next) {
  auto& state = self->state;
  if (find_in_memory(state, key)) return next(insert_outcome::exists);
  if (!uses_disk(state, key)) {
    keep_in_memory(self, key, value);
    tell_remote(self, verb::insert_v, key, value);
    return next(insert_outcome::inserted);
  }
  const auto write =
      std::make_shared<const insert_record>(insert_record{key, value, next, unmoved(state, key)});
  self->request(disk_of(state, key), caf::infinite, verb::insert_v, key, value)
      .then(
          [self, write](insert_outcome outcome, std::uint64_t before, std::uint64_t after) {
            end_insert(self, *write, outcome, before, after);
          },
          [self, write](const caf::error& why) { end_failed_insert(self, *write, why); });
}

void put(self_pointer self, const cache_key& key, const artifact& value, answer<done> reply) {
  auto& state = self->state;
  overtake_load(state, key);
  tell_remote(self, verb::put_v, key, value);
  if (!uses_disk(state, key)) {
    replace_in_memory(self, key, value);
    reply.deliver(done{});
    return;
  }
  self->request(disk_of(state, key), caf::infinite, verb::put_v, key, value)
      .then(
          [self, key, value, reply](std::uint64_t before, std::uint64_t after, bool) mutable {
            take_in_write(self, key, value, before, after);
            reply.deliver(done{});
          },
          [self, key, value, reply](const caf::error& why) mutable {
            replace_in_memory(self, key, value);
            reply.deliver(fail(from_caf(why)));
          });
}

void erase(self_pointer self, const cache_key& key, answer<bool> reply) {
  auto& state = self->state;
  overtake_load(state, key);
  tell_remote(self, verb::erase_v, key);
  if (!uses_disk(state, key)) {
    reply.deliver(erase_in_memory(self, key));
    return;
  }
  self->request(disk_of(state, key), caf::infinite, verb::erase_v, key)
      .then(
          [self, key, reply](std::uint64_t before, std::uint64_t after, bool was_there) mutable {
            const bool in_index = erase_in_memory(self, key);
            tell_views(self->state, key, before, after);
            reply.deliver(was_there || in_index);
          },
          [self, key, reply](const caf::error& why) mutable {
            erase_in_memory(self, key);
            reply.deliver(fail(from_caf(why)));
          });
}

void promote(self_pointer self, const cache_key& key, const artifact& value, std::uint64_t epoch) {
  auto& state = self->state;
  state.config.view->end_promotion();
  state.config.view->refresh();
  if (!uses_disk(state, key) || state.config.view->seen(disk_shard_of(state, key)) != epoch)
    return; // it may have been replaced since it was read
  ++state.counters.promotions;
  keep_in_memory(self, key, value);
}

// --- leases ------------------------------------------------------------------------------------

void release_process_lease(state_type& state, const cache_key& key,
                           state_type::lease_record& record) {
  if (!std::exchange(record.process_lease, false)) return;
  state.config.leases->release(key.disk_hash);
}

// Behind what was written under the lease.
void release_fleet_lease(self_pointer self, const cache_key& key,
                         state_type::lease_record& record) {
  if (std::exchange(record.fleet_lease, false)) tell_remote(self, verb::release_v, key);
}

// Takes the record out: its lease is over. Whoever waits is the caller's to answer.
state_type::lease_record end_lease(self_pointer self, const cache_key& key) {
  auto& state = self->state;
  auto record = std::move(state.leases.extract(key).mapped());
  release_fleet_lease(self, key, record);
  release_process_lease(state, key, record);
  state.lease_keys.erase(record.id);
  return record;
}

// Answers everybody who waited for a lease that is over.
void answer_waiters(state_type::lease_record& ended, const expected<lookup>& result) {
  for (auto& waiting : ended.waiters) {
    if (result)
      waiting.reply.deliver(lease_reply{*result, 0, waiting.waited || ended.contended});
    else
      waiting.reply.deliver(fail(result.error()));
  }
}

void settle(self_pointer self, const cache_key& key, const expected<lookup>& result) {
  auto record = end_lease(self, key);
  answer_waiters(record, result);
}

// Gives the lease to the first who still wants it; with nobody left it is over.
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
    if (!next.reply.deliver(lease_reply{{}, record.id, next.waited || record.contended})) continue;
    state.lease_keys.emplace(record.id, key);
    ++state.counters.leases_granted;
    return;
  }
  end_lease(self, key);
}

// Leaves out those who gave up waiting.
void prune(state_type::lease_record& record) {
  std::erase_if(record.waiters, [](const auto& waiting) { return !waiting.reply.wanted(); });
  record.prune_at = 2 * record.waiters.size() + 8;
}

void withdraw(state_type& state, const cache_key& key) {
  const auto at = state.leases.find(key);
  if (at != state.leases.end()) prune(at->second);
}

void poll_later(self_pointer self) {
  auto& state = self->state;
  if (std::exchange(state.poll_is_due, true)) return;
  self->delayed_send(self, state.poll_interval, verb::poll_v);
}

void recheck(self_pointer self, const cache_key& key) {
  auto& state = self->state;
  state.leases.find(key)->second.now = phase::rechecking;
  look(self, key, answer<lookup>([self, key](const expected<lookup>& result) {
         if (result && result->hit())
           settle(self, key, result);
         else
           grant(self, key);
         return true;
       }));
}

// The process's leases are ours: what was made meanwhile is looked for once more.
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
  record.fleet_poll = std::clamp(record.fleet_poll * 2, state.config.shortest_fleet_poll,
                                 state.config.longest_fleet_poll);
  self->delayed_send(self, record.fleet_poll, verb::retry_v, key);
}

// This process speaks for its host: asks for the lease among hosts. Should nobody be able to say
// who has it, the compile goes on without.
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

// Asks for the lease among processes: ours, or polled for.
void try_process_lease(self_pointer self, const cache_key& key) {
  auto& state = self->state;
  auto& record = state.leases.find(key)->second;
  if (record.process_lease || !state.config.leases || !key.cache->disk)
    return try_fleet_lease(self, key);
  const auto acquired = state.config.leases->try_acquire(key.disk_hash);
  if (!acquired) {
    if (!std::exchange(state.lease_failure_was_logged, true))
      state.config.log(log_level::warning,
                       "leases across processes do not work, compiles may be done twice: " +
                           acquired.error().text());
    return try_fleet_lease(self, key);
  }
  record.process_lease = *acquired;
  if (*acquired) return try_fleet_lease(self, key);
  if (!std::exchange(record.contended, true)) state.poll_interval = state.config.shortest_poll;
  record.now = phase::elsewhere;
  poll_later(self);
}

void lease_unless_found(self_pointer self, const cache_key& key, const expected<lookup>& result) {
  if (result && result->hit())
    settle(self, key, result);
  else
    try_process_lease(self, key);
}

void look_then_lease(self_pointer self, const cache_key& key) {
  self->state.leases.find(key)->second.now = phase::looking;
  look(self, key, answer<lookup>([self, key](const expected<lookup>& result) {
         lease_unless_found(self, key, result);
         return true;
       }));
}

// The same without the remote tier, which whoever holds the lease of this host asks.
void look_here_then_lease(self_pointer self, const cache_key& key) {
  auto& state = self->state;
  state.leases.find(key)->second.now = phase::looking;
  if (auto value = find_in_memory(state, key))
    return lease_unless_found(self, key, lookup{tier::memory, std::move(value)});
  ++state.counters.loads;
  ask_disk(self, key,
           [self, key](const expected<lookup>& result) { lease_unless_found(self, key, result); });
}

void acquire(self_pointer self, const cache_key& key, state_type::waiter waiting, bool looks) {
  auto& state = self->state;
  if (looks) {
    if (auto value = find_in_memory(state, key)) {
      waiting.reply.deliver(lease_reply{{tier::memory, std::move(value)}, 0, false});
      return;
    }
  }
  auto [at, is_new] = state.leases.try_emplace(key);
  auto& record = at->second;
  waiting.waited = !is_new;
  if (record.waiters.size() >= record.prune_at) prune(record);
  record.waiters.push_back(std::move(waiting));
  if (!is_new) return;
  record.looks = looks;
  if (looks)
    look_then_lease(self, key);
  else
    try_process_lease(self, key);
}

void poll(self_pointer self) {
  auto& state = self->state;
  state.poll_is_due = false;
  state.poll_interval = std::min(state.poll_interval * 2, state.config.longest_poll);
  std::vector<cache_key> elsewhere;
  for (const auto& [key, record] : state.leases)
    if (record.now == phase::elsewhere) elsewhere.push_back(key);
  for (const auto& key : elsewhere) {
    if (state.leases.find(key)->second.looks)
      look_here_then_lease(self, key);
    else
      try_process_lease(self, key);
  }
}

void poll_fleet(self_pointer self, const cache_key& key) {
  auto& state = self->state;
  const auto at = state.leases.find(key);
  if (at == state.leases.end() || at->second.now != phase::away) return;
  prune(at->second);
  if (at->second.waiters.empty()) {
    end_lease(self, key);
  } else if (at->second.looks) {
    look_then_lease(self, key);
  } else {
    try_fleet_lease(self, key);
  }
}

// The record of a lease that is held, or null.
state_type::lease_record* held(state_type& state, lease_id id, cache_key& key) {
  const auto at = state.lease_keys.find(id);
  if (at == state.lease_keys.end()) return nullptr;
  key = at->second;
  auto& record = state.leases.find(key)->second;
  return record.now == phase::held ? &record : nullptr;
}

// Somebody was first: every waiter gets what is stored, or ours should that be gone again. The
// lease is over at once: who asks from now on looks for themselves, and is not given what was
// erased.
void settle_with_stored(self_pointer self, const cache_key& key, const artifact& ours) {
  const auto ended = std::make_shared<state_type::lease_record>(end_lease(self, key));
  look(self, key, answer<lookup>([ended, ours](const expected<lookup>& result) {
         const bool there = result && result->hit();
         answer_waiters(*ended, there ? *result : lookup{tier::memory, ours});
         return true;
       }));
}

void fulfil(self_pointer self, lease_id id, const artifact& value, answer<insert_outcome> reply) {
  cache_key key;
  auto* record = held(self->state, id, key);
  if (!record) {
    reply.deliver(fail(errc::lease_lost, "this lease is not held: it was ended before"));
    return;
  }
  record->now = phase::fulfilling;
  insert(self, key, value, [self, key, value, reply](expected<insert_outcome> outcome) mutable {
    if (outcome && *outcome == insert_outcome::exists)
      settle_with_stored(self, key, value);
    else
      settle(self, key, lookup{tier::memory, value});
    reply.deliver(std::move(outcome));
  });
}

void abandon(self_pointer self, lease_id id, const error& why) {
  cache_key key;
  if (held(self->state, id, key)) settle(self, key, fail(why));
}

void release(self_pointer self, lease_id id) {
  cache_key key;
  if (held(self->state, id, key)) grant(self, key);
}

// An actor is gone: what it waited for nobody needs, what it held the next waiter gets.
void forget(self_pointer self, const caf::actor_addr& gone) {
  self->state.monitored.erase(gone);
  std::vector<lease_id> lost;
  for (auto& [key, record] : self->state.leases) {
    std::erase_if(record.waiters, [&](const auto& waiting) { return waiting.actor == gone; });
    if (record.now == phase::held && record.holder == gone) lost.push_back(record.id);
  }
  for (const auto id : lost)
    release(self, id);
}

// The waiter for the actor whose request is being handled. Its death is noticed.
state_type::waiter requester(self_pointer self) {
  auto who = caf::actor_cast<caf::actor_addr>(self->current_sender());
  if (who && self->state.monitored.insert(who).second) self->monitor(who);
  return {answer<lease_reply>(self->make_response_promise<lease_reply>()), who, false};
}

memory_shard_stats stats_of(const state_type& state) {
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
  for (const auto& [key, record] : state.leases) {
    result.leases_held += record.now == phase::held;
    result.leases_waiting += record.waiters.size();
  }
  return result;
}

entry_list entries_of(const state_type& state, std::uint32_t cache) {
  entry_list result;
  state.config.view->index().each(
      cache, [&](std::string_view key, const artifact& value) { result.emplace_back(key, value); });
  return result;
}

insert_callback callback_to(answer<insert_outcome> reply) {
  return [reply](expected<insert_outcome> outcome) mutable { reply.deliver(std::move(outcome)); };
}

} // namespace

memory_shard_actor::behavior_type memory_shard(self_pointer self, memory_shard_config config) {
  self->state.config = std::move(config);
  self->set_down_handler([self](const caf::down_msg& down) { forget(self, down.source); });
  return {
      [self](verb::get, const cache_key& key) {
        auto promise = self->make_response_promise<lookup>();
        get(self, key, promise);
        return promise;
      },
      [self](verb::get, const cache_key& key, const lookup_completion& reply) {
        get(self, key, reply);
      },
      [self](verb::get, const get_batch_ptr& batch, std::uint64_t first, std::uint64_t last) {
        get_some(self, batch, first, last);
      },
      [self](verb::insert, const cache_key& key, const artifact& value) {
        auto promise = self->make_response_promise<insert_outcome>();
        insert(self, key, value, callback_to(promise));
        return promise;
      },
      [self](verb::insert, const cache_key& key, const artifact& value,
             const insert_completion& reply) { insert(self, key, value, callback_to(reply)); },
      [self](verb::put, const cache_key& key, const artifact& value) {
        auto promise = self->make_response_promise<done>();
        put(self, key, value, promise);
        return promise;
      },
      [self](verb::put, const cache_key& key, const artifact& value, const done_completion& reply) {
        put(self, key, value, reply);
      },
      [self](verb::erase, const cache_key& key) {
        auto promise = self->make_response_promise<bool>();
        erase(self, key, promise);
        return promise;
      },
      [self](verb::erase, const cache_key& key, const flag_completion& reply) {
        erase(self, key, reply);
      },
      [self](verb::acquire, const cache_key& key) {
        auto waiting = requester(self);
        auto promise = waiting.reply;
        acquire(self, key, std::move(waiting), true);
        return promise.promise();
      },
      [self](verb::acquire, const cache_key& key, const lease_completion& reply) {
        acquire(self, key, {reply, {}, false}, true);
      },
      [self](verb::lock, const cache_key& key) {
        auto waiting = requester(self);
        auto promise = waiting.reply;
        acquire(self, key, std::move(waiting), false);
        return promise.promise();
      },
      [self](verb::fulfil, lease_id id, const artifact& value) {
        auto promise = self->make_response_promise<insert_outcome>();
        fulfil(self, id, value, promise);
        return promise;
      },
      [self](verb::fulfil, lease_id id, const artifact& value, const insert_completion& reply) {
        fulfil(self, id, value, reply);
      },
      [self](verb::abandon, lease_id id, const error& why) { abandon(self, id, why); },
      [self](verb::release, lease_id id) { release(self, id); },
      [self](verb::withdraw, const cache_key& key) { withdraw(self->state, key); },
      [self](verb::promote, const cache_key& key, const artifact& value, std::uint64_t epoch) {
        promote(self, key, value, epoch);
      },
      [self](verb::poll) { poll(self); },
      [self](verb::retry, const cache_key& key) { poll_fleet(self, key); },
      [self](verb::tick) { tick(self); },
      [self](verb::list, std::uint32_t cache) { return entries_of(self->state, cache); },
      [self](verb::clear) {
        self->state.config.view->index().clear();
        note_change(self);
        return done{};
      },
      [self](verb::stats) { return stats_of(self->state); },
  };
}

} // namespace hearth::actors
