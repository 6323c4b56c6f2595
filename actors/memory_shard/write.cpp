#include "actors/memory_shard/write.hpp"

#include "actors/memory_shard/held.hpp"
#include "actors/memory_shard/load.hpp"
#include "actors/memory_shard/unpersisted.hpp"
#include "messages/expiry.hpp"

#include <memory>

namespace hearth::actors::shard {
namespace {

// An insert that was sent to the disk shard.
struct insert_record {
  cache_key key;
  artifact value;
  insert_callback next;
  std::uint64_t epoch;  // the disk shard's epoch when the insert was sent
  std::uint64_t change; // the host's last change then
};

void end_with(const cache_key& key, insert_outcome outcome, const insert_callback& next) {
  count(key,
        outcome == insert_outcome::inserted ? &cache_counters::inserted : &cache_counters::existed);
  next(outcome);
}

// Sends an insert that the disk has answered to the remote tier, unless the entry was erased after
// it.
void pass_on_insert(self_pointer self, const insert_record& write, bool is_new) {
  auto& state = self->state;
  const bool is_erased =
      !state.erased_meanwhile.empty() && state.erased_meanwhile.contains(write.key);
  if (--state.open_inserts == 0) state.erased_meanwhile.clear();
  if (is_new && !is_erased) tell_remote(self, verb::insert_v, write.key, write.value, write.change);
}

void end_insert(self_pointer self, const insert_record& write, const disk_insert_reply& reply) {
  take_in_insert(self, write.key, write.value, reply, write.epoch);
  pass_on_insert(self, write, reply.outcome == insert_outcome::inserted);
  end_with(write.key, reply.outcome, write.next);
}

// The disk failed: the entry stays in memory and still goes to the remote tier.
void end_failed_insert(self_pointer self, const insert_record& write, const error& what) {
  keep_unpersisted(self, write.key, write.value, what, write.change, [] { return true; });
  pass_on_insert(self, write, true);
  write.next(fail(what));
}

// Notes a put or erase, unless there is no remote tier that might bring the old value back.
storage::change_journal::noted note_change(state_type& state, const cache_key& key,
                                           storage::unheard_change::kind what,
                                           const artifact& value = {}) {
  if (!uses_remote(state, key) || !state.config.journal) return {};
  const bool is_put = what == storage::unheard_change::kind::put;
  return state.config.journal->note(key, what, is_put ? storage::hash_of_value(value) : 0);
}

// Notes a put or erase that the disk has to make.
storage::change_journal::noted begin_change(state_type& state, const cache_key& key,
                                            storage::unheard_change::kind what,
                                            const artifact& value = {}) {
  auto noted = note_change(state, key, what, value);
  if (noted.which != 0 && uses_disk(state, key)) state.open_changes[key] = noted.which;
  return noted;
}

// The answer to a change: an error if this process's end could undo it.
template <class T>
expected<T> unless_undone(T answer, const expected<void>& kept) {
  if (kept) return answer;
  return fail(kept.error().code(),
              "the change is made here, but the remote tier may undo it: " + kept.error().text());
}

// Called when the disk has answered a change. Whether another process has changed the entry while
// it was made: that process may have told the fleet what the store held before. Not if this process
// has made a later change, whose end will show.
bool has_met_another(state_type& state, const cache_key& key, std::uint64_t which) {
  const auto latest = state.open_changes.find(key);
  if (latest == state.open_changes.end() || latest->second != which) return false;
  state.open_changes.erase(latest);
  return state.config.journal->is_overtaken_for_any(key, which);
}

// Ends a put that is on disk. One that was the last is told anew.
void end_put(self_pointer self, const cache_key& key, const artifact& value,
             reply_target<done> reply, const storage::change_journal::noted& noted) {
  if (!has_met_another(self->state, key, noted.which)) {
    reply.deliver(unless_undone(done{}, noted.kept));
    return;
  }
  self->request(disk_of(self->state, key), caf::infinite, verb::load_v, key)
      .then(
          [self, key, value, reply, noted](const lookup& found) mutable {
            auto told = noted;
            if (found.hit() && same_bytes(found.value, value)) {
              told = note_change(self->state, key, storage::unheard_change::kind::put, value);
              tell_remote(self, verb::put_v, key, value, told.which);
            }
            reply.deliver(unless_undone(done{}, told.kept));
          },
          [reply, noted](const caf::error&) mutable {
            reply.deliver(unless_undone(done{}, noted.kept));
          });
}

// An erase that is made is told anew: the store may have held a value until now.
storage::change_journal::noted end_erase(self_pointer self, const cache_key& key,
                                         const storage::change_journal::noted& noted) {
  if (!has_met_another(self->state, key, noted.which)) return noted;
  const auto anew = note_change(self->state, key, storage::unheard_change::kind::erase);
  tell_remote(self, verb::erase_v, key, anew.which);
  return anew;
}

// Erases from memory and disk.
void erase_here(self_pointer self, const cache_key& key, reply_target<bool> reply,
                const storage::change_journal::noted& noted) {
  auto& state = self->state;
  overtake_load(state, key);
  state.unwritten_members.erase(key);
  if (state.open_inserts != 0) state.erased_meanwhile.insert(key);
  if (!uses_disk(state, key)) {
    reply.deliver(unless_undone(erase_in_memory(self, key), noted.kept));
    return;
  }
  self->request(disk_of(state, key), caf::infinite, verb::erase_v, key)
      .then(
          [self, key, reply, noted](const disk_change_reply& change) mutable {
            const bool in_index = erase_in_memory(self, key);
            tell_views(self->state, key, change.epochs);
            const auto told = end_erase(self, key, noted);
            reply.deliver(unless_undone(change.was_there || in_index, told.kept));
          },
          [self, key, reply, noted](const caf::error& why) mutable {
            (void)has_met_another(self->state, key, noted.which);
            erase_in_memory(self, key);
            reply.deliver(fail(from_caf(why)));
          });
}

// The value as it is stored: one without an expiry gets that of its cache.
artifact stored_form(const cache_key& key, const artifact& value) {
  const auto ttl = key.cache->ttl;
  return ttl.count() > 0 && expiry_of(value) == 0 ? with_ttl(value, ttl) : value;
}

void insert_now(self_pointer self, const cache_key& key, const artifact& made,
                const insert_callback& next) {
  auto& state = self->state;
  if (find_in_memory(state, key)) return end_with(key, insert_outcome::exists, next);
  const auto value = stored_form(key, made);
  if (!uses_disk(state, key)) {
    keep_in_memory(self, key, value);
    tell_remote(self, verb::insert_v, key, value, last_change(state));
    return end_with(key, insert_outcome::inserted, next);
  }
  ++state.open_inserts;
  const auto write = std::make_shared<const insert_record>(
      insert_record{key, value, next, epoch_of(state, key), last_change(state)});
  insert_on_disk(self, key, value, [self, write](const expected<disk_insert_reply>& reply) {
    if (reply)
      end_insert(self, *write, *reply);
    else
      end_failed_insert(self, *write, reply.error());
  });
}

} // namespace

// It begins behind the purges that are to be heard first: those came before it.
void insert(self_pointer self, const cache_key& key, const artifact& made,
            const insert_callback& next) {
  auto& state = self->state;
  if (!uses_disk(state, key) || !has_to_hear(state, key)) return insert_now(self, key, made, next);
  self->request(state.config.remote, caf::infinite, verb::hear_v)
      .then([self, key, made, next](const done&) { insert_now(self, key, made, next); },
            [self, key, made, next](const caf::error&) { insert_now(self, key, made, next); });
}

void put(self_pointer self, const cache_key& key, const artifact& made, reply_target<done> reply) {
  auto& state = self->state;
  const auto value = stored_form(key, made);
  overtake_load(state, key);
  const auto noted = begin_change(state, key, storage::unheard_change::kind::put, value);
  tell_remote(self, verb::put_v, key, value, noted.which);
  if (!uses_disk(state, key)) {
    replace_in_memory(self, key, value);
    count(key, &cache_counters::put);
    reply.deliver(unless_undone(done{}, noted.kept));
    return;
  }
  self->request(disk_of(state, key), caf::infinite, verb::put_v, key, value)
      .then(
          [self, key, value, reply, noted](const disk_change_reply& change) mutable {
            take_in_write(self, key, value, change.epochs);
            count(key, &cache_counters::put);
            end_put(self, key, value, reply, noted);
          },
          [self, key, value, reply, which = noted.which](const caf::error& why) mutable {
            const auto what = from_caf(why);
            (void)has_met_another(self->state, key, which);
            self->state.config.store->note_unpersisted(disk_shard_of(self->state, key));
            replace_in_memory(self, key, value);
            note_unpersisted(self, key, value, what, {which, which});
            reply.deliver(fail(what));
          });
}

void erase(self_pointer self, const cache_key& key, reply_target<bool> reply) {
  const auto noted = begin_change(self->state, key, storage::unheard_change::kind::erase);
  tell_remote(self, verb::erase_v, key, noted.which);
  erase_here(self, key, reply_target<bool>([key, reply](const expected<bool>& answer) mutable {
               if (answer && *answer) count(key, &cache_counters::erased);
               return reply.deliver(answer);
             }),
             noted);
}

void purge(self_pointer self, const cache_key& key, reply_target<bool> reply) {
  erase_here(self, key, std::move(reply), {});
}

} // namespace hearth::actors::shard
