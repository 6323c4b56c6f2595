#include "actors/memory_shard/load.hpp"

#include "actors/memory_shard/held.hpp"
#include "actors/memory_shard/unpersisted.hpp"
#include "actors/memory_shard/write.hpp"

#include <iterator>
#include <utility>

namespace hearth::actors::shard {
namespace {

using waiter_list = std::vector<state_type::load_waiter>;

void deliver_all(const cache_key& key, waiter_list waiters, const expected<lookup>& result) {
  for (auto& waiting : waiters) {
    if (result && waiting.is_lookup) count_lookup(key, result->from);
    waiting.reply.deliver(result);
  }
}

// Ends a load and returns its waiters, which the caller answers. A later request starts a new load.
waiter_list end_load(state_type& state, const cache_key& key, const load_ptr& load) {
  const auto at = state.loads.find(key);
  if (at != state.loads.end() && at->second == load) state.loads.erase(at);
  return std::exchange(load->waiters, {});
}

// A value that was put or erased during the load is not kept in memory, even if the disk took it.
void end_keeping(self_pointer self, const cache_key& key, const artifact& value,
                 const state_type::load_record& load, const expected<disk_insert_reply>& reply) {
  if (reply) {
    auto taken = *reply;
    if (load.overtaken) taken.outcome = insert_outcome::exists;
    take_in_insert(self, key, value, taken, load.epoch);
  } else {
    keep_unpersisted(self, key, value, reply.error(), load.change, [self, key, load] {
      return !load.overtaken && epoch_of(self->state, key) == load.epoch &&
             !is_overtaken(self->state, key, load.change);
    });
  }
}

// Stores a remote hit on disk and in memory, unless the entry was written during the lookup.
void keep_remote_hit(self_pointer self, const cache_key& key, const artifact& value,
                     const load_ptr& load) {
  auto& state = self->state;
  if (load->overtaken || is_overtaken(state, key, load->change)) return;
  if (!uses_disk(state, key)) return keep_in_memory(self, key, value);
  if (epoch_of(state, key) != load->epoch) return;
  copy_to_disk(self, key, value, load->change,
               [self, key, value, load](const expected<disk_insert_reply>& reply) {
                 end_keeping(self, key, value, *load, reply);
               });
}

// Waiters that joined after the disk answered get what the disk holds now, or else the remote
// tier's result.
void end_remote_load(self_pointer self, const cache_key& key, const load_ptr& load, lookup found) {
  if (!found.hit() && load->is_disk_unread) found = lookup::unanswered();
  auto early = end_load(self->state, key, load);
  waiter_list late(
      std::make_move_iterator(early.begin() + static_cast<std::ptrdiff_t>(load->before_disk)),
      std::make_move_iterator(early.end()));
  early.erase(early.begin() + static_cast<std::ptrdiff_t>(load->before_disk), early.end());
  deliver_all(key, std::move(early), found);
  if (late.empty()) return;
  ask_disk(self, key, [key, late = std::move(late), found](const expected<lookup>& stored) {
    deliver_all(key, late, stored && !stored->hit() ? found : stored);
  });
}

// Queues the key for the remote tier. One message asks for all keys queued in one mailbox run.
void load_from_remote(self_pointer self, const cache_key& key, const load_ptr& load) {
  auto& state = self->state;
  load->before_disk = load->waiters.size();
  if (!uses_remote(state, key)) return end_remote_load(self, key, load, {});
  if (state.questions.empty()) self->send(self, verb::ask_remote_v);
  state.questions.push_back({key, load});
}

void load_from_disk(self_pointer self, const cache_key& key, const load_ptr& load) {
  if (uses_disk(self->state, key)) load->epoch = epoch_of(self->state, key);
  load->change = last_change(self->state);
  load->is_disk_asked = uses_disk(self->state, key);
  ask_disk(self, key, [self, key, load](const expected<lookup>& found) {
    load->is_disk_asked = false;
    load->is_disk_unread = found && found->is_unanswered;
    if (found && !found->hit())
      load_from_remote(self, key, load);
    else
      deliver_all(key, end_load(self->state, key, load), found);
  });
}

void end_question(self_pointer self, const state_type::question& asked, const lookup& found) {
  if (found.hit()) keep_remote_hit(self, asked.key, found.value, asked.load);
  end_remote_load(self, asked.key, asked.load, found);
}

// Whether another process has changed the entry since the lookup in flight began, or may have,
// since the disk was asked: one who asks now must not get what was there before.
bool is_too_old_to_join(state_type& state, const cache_key& key) {
  const auto at = state.loads.find(key);
  if (at == state.loads.end()) return false;
  const auto& load = *at->second;
  return is_overtaken(state, key, load.change) ||
         (load.is_disk_asked && epoch_of(state, key) != load.epoch);
}

// Starts a lookup below memory, or joins the one in flight. It begins behind the purges that are to
// be heard first: one of its entry came before what it finds.
void load(self_pointer self, const cache_key& key, const state_type::load_waiter& waiting) {
  auto& state = self->state;
  if (uses_disk(state, key) && has_to_hear(state, key)) {
    self->request(state.config.remote, caf::infinite, verb::hear_v)
        .then([self, key, waiting](const done&) { load(self, key, waiting); },
              [key, waiting](const caf::error& why) {
                deliver_all(key, {waiting}, fail(from_caf(why)));
              });
    return;
  }
  if (is_too_old_to_join(state, key)) overtake_load(state, key);
  auto [at, is_first] = state.loads.try_emplace(key);
  if (is_first) at->second = std::make_shared<state_type::load_record>();
  const auto load = at->second;
  load->waiters.push_back(waiting);
  ++(is_first ? state.counters.loads : state.counters.coalesced);
  if (is_first) load_from_disk(self, key, load);
}

} // namespace

void overtake_load(state_type& state, const cache_key& key) {
  const auto node = state.loads.extract(key);
  if (!node.empty()) node.mapped()->overtaken = true;
}

void ask_remote(self_pointer self) {
  auto& state = self->state;
  if (state.questions.empty()) return;
  const auto asked =
      std::make_shared<const std::vector<state_type::question>>(std::exchange(state.questions, {}));
  key_list keys;
  keys.reserve(asked->size());
  for (const auto& one : *asked)
    keys.push_back(one.key);
  self->request(state.config.remote, caf::infinite, verb::get_v, std::move(keys))
      .then(
          [self, asked](const lookup_list& found) {
            for (std::size_t i = 0; i < asked->size(); ++i)
              end_question(self, (*asked)[i], found[i] ? *found[i] : lookup{});
          },
          [self, asked](const caf::error&) {
            for (const auto& one : *asked)
              end_question(self, one, {});
          });
}

void ask_disk(self_pointer self, const cache_key& key, const lookup_callback& next) {
  auto& state = self->state;
  if (!uses_disk(state, key)) return next(lookup{});
  if (has_to_hear(state, key)) {
    self->request(state.config.remote, caf::infinite, verb::hear_v)
        .then([self, key, next](const done&) { ask_disk(self, key, next); },
              [self, key, next](const caf::error& why) { next(fail(from_caf(why))); });
    return;
  }
  const auto epoch = epoch_of(state, key);
  self->request(disk_of(state, key), caf::infinite, verb::load_v, key)
      .then(
          [self, key, next, epoch](const lookup& found) {
            if (found.hit() && epoch_of(self->state, key) == epoch)
              keep_in_memory(self, key, found.value);
            next(found);
          },
          [next](const caf::error& why) { next(fail(from_caf(why))); });
}

void get(self_pointer self, const cache_key& key, reply_target<lookup> reply) {
  if (auto value = get_from_memory(self->state, key))
    reply.deliver(lookup{tier::memory, std::move(value)});
  else
    load(self, key, {std::move(reply)});
}

void look(self_pointer self, const cache_key& key, reply_target<lookup> reply) {
  if (auto value = find_in_memory(self->state, key))
    reply.deliver(lookup{tier::memory, std::move(value)});
  else
    load(self, key, {std::move(reply), false});
}

void get_some(self_pointer self, const get_batch_ptr& batch, std::size_t first, std::size_t last) {
  auto& view = *self->state.config.view;
  view.refresh();
  const auto& index = view.index();
  for (auto i = first; i < last; ++i)
    index.prefetch(batch->memory_hash(i));
  for (auto i = first; i < last; ++i)
    index.prefetch_entry(batch->memory_hash(i), batch->key_bytes(i).size());
  std::size_t hits = 0;
  for (auto i = first; i < last; ++i) {
    const auto& cache = *batch->cache();
    artifact value;
    if (cache.memory)
      value = index.get({cache.number, batch->key_bytes(i), batch->memory_hash(i), cache.lookups});
    if (value) {
      batch->answer_quietly(i, lookup{tier::memory, std::move(value)});
      ++hits;
      continue;
    }
    load(self, batch->key(i), {reply_target<lookup>([batch, i](const expected<lookup>& result) {
           batch->answer(i, result);
           return true;
         })});
  }
  batch->count_answered(hits);
}

void promote(self_pointer self, const cache_key& key, const artifact& value, std::uint64_t epoch) {
  auto& state = self->state;
  state.config.view->end_promotion();
  state.config.view->refresh();
  if (!uses_disk(state, key) || state.config.view->seen(disk_shard_of(state, key)) != epoch)
    return; // another write may have replaced the entry
  ++state.counters.promotions;
  keep_in_memory(self, key, value);
}

} // namespace hearth::actors::shard
