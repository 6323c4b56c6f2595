#include "actors/remote_tier/unheard.hpp"

#include "actors/remote_tier/purges.hpp"
#include "actors/remote_tier/service.hpp"
#include "actors/remote_tier/writes.hpp"
#include "storage/remote/purge_log.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace hearth::actors::remote {
namespace {

using storage::remote_write;
using storage::unheard_change;
using kind = unheard_change::kind;
using number = storage::change_journal::number;

constexpr std::chrono::milliseconds before_telling_again{10'000};
// Of one entry in that time: two processes of a host whose copies differ, since the disk of one
// fails, would otherwise correct each other without end.
constexpr unsigned max_told_again = 8;

storage::change_journal* journal_of(const state_type& state) {
  return state.config.purges ? state.config.purges->journal.get() : nullptr;
}

void tell_later(self_pointer self) {
  if (!std::exchange(self->state.unheard.timer_is_due, true))
    self->delayed_send(self, before_telling_again, verb::tell_v);
}

named_cache_ptr cache_of(const state_type& state, const unheard_change& change) {
  const auto id = cache_id::make(change.cache, change.version);
  return id ? state.config.purges->cache_of(*id) : nullptr;
}

state_type::unheard_record::cache_name name_of(const named_cache_ptr& cache) {
  return {cache->id.name(), cache->id.version()};
}

// The change of a whole cache stands for the one that was known of it. False: it is that one.
bool replace_whole(state_type& state, const named_cache_ptr& cache, number which) {
  auto& whole = state.unheard.whole[name_of(cache)];
  if (whole.which == which) return false;
  journal_of(state)->settle(whole.which);
  whole = {cache, which, false};
  return true;
}

void take_over(state_type& state, const storage::change_journal::numbered_change& own) {
  const auto cache = cache_of(state, own.change);
  if (!cache) return;
  if (own.change.what == kind::whole_cache) {
    replace_whole(state, cache, own.which);
    return;
  }
  state.unheard.left[cache_key(cache, own.change.key)] = {own.which,
                                                          own.change.what == kind::put,
                                                          own.change.value,
                                                          false,
                                                          false,
                                                          own.journal,
                                                          own.holder,
                                                          own.was_passed};
  state.log.has_to_match = state.log.has_to_match || own.journal != 0;
}

void note_others(state_type& state,
                 const std::vector<storage::change_journal::numbered_change>& others) {
  auto& unheard = state.unheard;
  unheard.elsewhere.clear();
  unheard.whole_elsewhere.clear();
  for (const auto& one : others) {
    const auto& change = one.change;
    const auto cache = cache_of(state, change);
    if (!cache) continue;
    if (change.what == kind::whole_cache)
      unheard.whole_elsewhere.insert(name_of(cache));
    else
      unheard.elsewhere[cache_key(cache, change.key)] = {one.which, change.what == kind::put,
                                                         change.value};
  }
}

// --- entries -----------------------------------------------------------------------------------

using left_change = state_type::unheard_record::left_change;

// Queues what was left of an entry, unless a later change of it came meanwhile: a put of this
// value, or an erase. `is_put_here`: of an erase, this host has a value.
void queue(self_pointer self, const cache_key& key, const left_change& change,
           const artifact* value, bool is_put_here = false) {
  auto& state = self->state;
  const auto at = state.unheard.left.find(key);
  const bool is_left = at != state.unheard.left.end() && at->second.which == change.which;
  if (!is_left || std::exchange(at->second.is_queued, true)) return;
  // The process may have opened the cache since the change was found.
  const cache_key now(state.config.purges->cache_of(key.cache->id), key.bytes);
  remote_write write{value ? remote_write::kind::put : remote_write::kind::erase, now, {}, {}};
  if (value) write.value = *value;
  write.is_put_here = is_put_here;
  write.change = change.which;
  remote::write(self, std::move(write));
}

void end_telling(state_type& state) {
  --state.unheard.telling;
  answer_syncs(state);
}

// More of a cache was changed than a journal keeps.
void note_whole(self_pointer self, const named_cache_ptr& cache, number which) {
  auto& state = self->state;
  if (!replace_whole(state, cache, which)) return;
  state.config.log(log_level::warning,
                   "more entries of " + cache->id.name() + " were changed than are noted for " +
                       state.config.name +
                       ": it is asked for none until all of them are removed there");
  tell_later(self);
}

// Notes an entry anew, before what the store holds of it is told. Nothing: its whole cache is
// noted.
std::optional<left_change> note_anew(self_pointer self, const cache_key& key, kind what,
                                     std::uint64_t value = 0) {
  auto& state = self->state;
  auto* const journal = journal_of(state);
  const auto which = journal->take_number(journal->note_again(key, what, value).which);
  if (journal->find(which) == kind::whole_cache) {
    state.unheard.left.erase(key);
    note_whole(self, key.cache, which);
    return std::nullopt;
  }
  return state.unheard.left[key] = {which, what == kind::put, value};
}

std::optional<std::uint64_t> value_of(const lookup& found) {
  return found.hit() ? std::optional(storage::hash_of_value(found.value)) : std::nullopt;
}

// The value of an entry that was put is in this host's store, or it is gone, or was replaced: then
// the fleet is told of an erase, since what the server holds is older.
void tell_put_of(self_pointer self, const cache_key& key, const left_change& change,
                 std::function<void()> next) {
  self->request(self->state.config.purges->shards.owner_of(key), caf::infinite, verb::get_v, key)
      .then(
          [self, key, change, next](const lookup& found) {
            const bool is_put =
                found.hit() &&
                (change.value == 0 || storage::hash_of_value(found.value) == change.value);
            queue(self, key, change, is_put ? &found.value : nullptr);
            if (self->state.unheard.purged.erase(key) != 0)
              drop_unless_put(self, key, {change.which, is_put ? value_of(found) : std::nullopt});
            next();
          },
          [self, next](const caf::error&) {
            tell_later(self);
            next();
          });
}

// Begins to tell the first put that is to be told anew. It gets its number now: a number counts for
// the other entries of its group too, so two that are told at once would overtake each other.
void tell_next(self_pointer self) {
  auto& state = self->state;
  auto& waiting = state.unheard.to_be_told;
  const auto end = [self] {
    self->state.unheard.to_be_told.pop_front();
    end_telling(self->state);
  };
  while (!waiting.empty()) {
    const auto key = waiting.front();
    const auto left = state.unheard.left.find(key);
    const bool is_left = left != state.unheard.left.end() && !left->second.is_queued;
    auto change = is_left ? std::optional(left->second) : std::nullopt;
    if (change && journal_of(state)->is_overtaken(key, change->which))
      change = note_anew(self, key, kind::put, change->value);
    if (change)
      return tell_put_of(self, key, *change, [self, end] {
        end();
        tell_next(self);
      });
    end();
  }
}

void tell_anew(self_pointer self, const cache_key& key) {
  auto& unheard = self->state.unheard;
  ++unheard.telling;
  unheard.to_be_told.push_back(key);
  if (unheard.to_be_told.size() == 1) tell_next(self);
}

void settle_left(state_type& state, const cache_key& key) {
  const auto left = state.unheard.left.find(key);
  journal_of(state)->settle(left->second.which);
  state.unheard.left.erase(left);
}

// Removes from the server what an ended process may have written there behind a later change of
// this host. It is not replaced: another host may put the entry meanwhile, which is later than all
// that this host has.
void tell_passed(self_pointer self, const cache_key& key, const left_change& change) {
  if (!change.is_logged)
    return settle_left(self->state, key); // another host's is later, or unknown
  const auto noted = note_anew(self, key, kind::erase);
  if (!noted) return;
  ++self->state.unheard.telling;
  self->request(self->state.config.purges->shards.owner_of(key), caf::infinite, verb::get_v, key)
      .then(
          [self, key, change = *noted](const lookup& found) {
            queue(self, key, change, nullptr, found.hit());
            end_telling(self->state);
          },
          [self](const caf::error&) {
            tell_later(self);
            end_telling(self->state);
          });
}

// --- whole caches ------------------------------------------------------------------------------

struct clearing {
  named_cache_ptr cache;
  number which;
  std::function<void(bool)> next;
};
using clearing_ptr = std::shared_ptr<const clearing>;

void end_clearing(self_pointer self, const clearing_ptr& now, const remote_reply& logged) {
  auto& state = self->state;
  if (logged.failure != remote_failure::none && !lacks_log(logged)) return now->next(false);
  const auto at = state.unheard.whole.find(name_of(now->cache));
  if (at != state.unheard.whole.end() && at->second.which == now->which)
    at->second.is_cleared = true;
  now->next(true);
}

void log_clearing(self_pointer self, const clearing_ptr& now) {
  const auto& state = self->state;
  send(self, command_purpose::log,
       storage::log_clear_command(storage::purge_log_name(state.config.naming.prefix),
                                  state.config.purges->writer, now->cache->id),
       state.config.write_deadline,
       [self, now](const remote_reply& reply) { end_clearing(self, now, reply); });
}

// A server of a billion names is gone through; one that never ends is given up.
constexpr std::size_t max_pages = std::size_t{1} << 20;

void find_on(self_pointer self, const clearing_ptr& now, std::string cursor, std::size_t page);

// Removes the entries that were found, then looks for more.
void remove_found(self_pointer self, const clearing_ptr& now, storage::found_names found,
                  std::size_t page) {
  const bool is_last = found.cursor == "0";
  const auto go_on = [self, now, is_last, cursor = found.cursor, page] {
    if (is_last)
      log_clearing(self, now);
    else
      find_on(self, now, cursor, page + 1);
  };
  if (found.names.empty() && found.sets.empty()) return go_on();
  std::vector<remote_client::command> commands;
  for (auto& name : found.names)
    commands.push_back(storage::remove_command(std::move(name), new_mark(self->state)));
  for (auto& set : found.sets)
    commands.push_back(storage::erase_command(std::move(set)));
  const auto count = commands.size();
  struct replies {
    std::size_t open;
    bool is_good = true;
  };
  send_all(self, command_purpose::log, std::move(commands), self->state.config.write_deadline,
           [now, go_on, left = std::make_shared<replies>(replies{count})](
               std::size_t, const remote_reply& reply) {
             left->is_good = left->is_good && reply.failure == remote_failure::none;
             if (--left->open != 0) return;
             if (left->is_good)
               go_on();
             else
               now->next(false);
           });
}

void find_on(self_pointer self, const clearing_ptr& now, std::string cursor, std::size_t page) {
  if (page == max_pages) return now->next(false);
  const auto& config = self->state.config;
  send(self, command_purpose::log,
       storage::find_entries_command(config.naming, now->cache->id, std::move(cursor)),
       config.write_deadline, [self, now, page](const remote_reply& reply) {
         const auto& state = self->state;
         auto found = reply.failure == remote_failure::none
                          ? storage::found_entries(reply.value, state.config.naming, now->cache->id)
                          : std::nullopt;
         if (!found) return now->next(false);
         remove_found(self, now, std::move(*found), page);
       });
}

void clear_next(self_pointer self, std::vector<clearing> left, std::function<void(bool)> next) {
  if (left.empty()) return next(true);
  auto now = std::move(left.back());
  left.pop_back();
  now.next = [self, left = std::move(left), next = std::move(next)](bool is_good) mutable {
    if (!is_good) return next(false);
    clear_next(self, std::move(left), std::move(next));
  };
  journal_of(self->state)->begin_telling(now.which);
  find_on(self, std::make_shared<const clearing>(std::move(now)), "0", 0);
}

// Another process of this host may have told a later change of the entry.
void drop_if_told(state_type& state, const cache_key& key) {
  const auto left = state.unheard.left.find(key);
  if (left == state.unheard.left.end() || left->second.is_queued) return;
  if (left->second.was_passed) return; // that is known
  if (journal_of(state)->was_told_since(key, left->second.which)) settle_left(state, key);
}

// Other processes of this host have told puts that outlived purges here.
void end_purged(self_pointer self) {
  auto& unheard = self->state.unheard;
  for (auto at = unheard.purged.begin(); at != unheard.purged.end();) {
    const bool is_open = unheard.left.contains(at->first) || unheard.elsewhere.contains(at->first);
    if (!is_open) drop_unless_put(self, at->first, at->second);
    at = is_open ? std::next(at) : unheard.purged.erase(at);
  }
}

// Whether this host has changed the entry and has no write on its way that tells it.
bool will_be_told(self_pointer self, const cache_key& key) {
  auto& unheard = self->state.unheard;
  drop_if_told(self->state, key);
  const auto is_elsewhere = [&] {
    return unheard.elsewhere.contains(key) ||
           (!unheard.whole_elsewhere.empty() &&
            unheard.whole_elsewhere.contains(name_of(key.cache)));
  };
  if (is_elsewhere()) { // or was: it may be settled by now
    unheard.seen = 0;
    look_for_unheard(self);
  }
  const auto left = unheard.left.find(key);
  const bool is_left = left != unheard.left.end() && !left->second.is_queued;
  return is_left || is_elsewhere() ||
         (!unheard.whole.empty() && unheard.whole.contains(name_of(key.cache)));
}

} // namespace

std::optional<outliving_put> told_put(const state_type& state, const remote_write& write) {
  if (write.what == remote_write::kind::put)
    return outliving_put{write.change, storage::hash_of_value(write.value)};
  const auto* const journal = journal_of(state);
  if (!journal || write.what != remote_write::kind::erase || write.change == 0) return std::nullopt;
  if (journal->find(write.change) != kind::put) return std::nullopt;
  return outliving_put{write.change, std::nullopt};
}

void drop_unless_put(self_pointer self, const cache_key& key, const outliving_put& put) {
  const auto& disk_shards = self->state.config.purges->disk_shards;
  if (disk_shards.empty()) return; // memory has what was put, or nothing
  const auto is_replaced = [self, key, put] {
    const auto* const journal = journal_of(self->state);
    if (journal && put.which != 0) return journal->is_overtaken(key, put.which);
    const auto* const later = self->state.writes.newest_of(key);
    return later && is_purge(*later);
  };
  self->request(disk_shards.front(), caf::infinite, verb::load_v, key)
      .then(
          [self, key, put, is_replaced](const lookup& found) {
            const auto value = value_of(found);
            if (!value || is_replaced()) return;
            const bool is_put = put.value && (*put.value == 0 || *put.value == *value);
            if (!is_put) drop_copies(self, key);
          },
          [self, key, is_replaced](const caf::error&) {
            if (!is_replaced()) drop_copies(self, key);
          });
}

void look_for_unheard(self_pointer self) {
  auto& state = self->state;
  auto* const journal = journal_of(state);
  if (!journal) return;
  const auto written = journal->written() + 1;
  if (std::exchange(state.unheard.seen, written) == written) return;
  const auto found = journal->look();
  for (const auto& own : found.taken_over)
    take_over(state, own);
  state.unheard.is_blind = !found.is_whole;
  if (found.is_whole) {
    note_others(state, found.others);
    end_purged(self);
  } else {
    state.unheard.seen = 0; // looks again
  }
  if (!state.unheard.left.empty() || !state.unheard.elsewhere.empty() ||
      !state.unheard.purged.empty())
    tell_later(self);
}

unheard_state unheard_of(self_pointer self, const cache_key& key) {
  const bool will_be = will_be_told(self, key);
  const auto& unheard = self->state.unheard;
  if (unheard.left.contains(key)) return unheard_state::changed;
  if (unheard.is_blind) return unheard_state::unknown; // what was known of others may be over
  if (unheard.elsewhere.contains(key)) return unheard_state::changed;
  return will_be ? unheard_state::unknown : unheard_state::none;
}

// What was erased will be erased in the log too. But the entry may have been inserted since: which
// of this and the purge came first is unknown, so it goes.
bool outlives_purge(self_pointer self, const cache_key& key) {
  if (!will_be_told(self, key)) return false;
  auto& unheard = self->state.unheard;
  const auto* const journal = journal_of(self->state);
  std::optional<outliving_put> put;
  const auto look_at = [&](const auto& changes) {
    const auto at = changes.find(key);
    if (at == changes.end()) return;
    const auto& change = at->second;
    if (change.is_put && !journal->is_overtaken(key, change.which))
      put = {change.which, change.value};
  };
  look_at(unheard.elsewhere);
  look_at(unheard.left);
  const bool is_of_whole = unheard.whole.contains(name_of(key.cache)) ||
                           unheard.whole_elsewhere.contains(name_of(key.cache));
  if (!put && is_of_whole) put = {journal->last(), std::nullopt};
  if (put) unheard.purged.insert_or_assign(key, *put);
  return put.has_value();
}

void note_change(self_pointer self, remote_write& write) {
  auto& state = self->state;
  auto* const journal = journal_of(state);
  if (!journal || write.change == 0) return;
  const auto left = state.unheard.left.find(write.key);
  const bool is_left = left != state.unheard.left.end();
  if (is_left && (left->second.which < write.change || !journal->find(left->second.which)))
    state.unheard.left.erase(left); // this change is later, or another one was
  const auto which = journal->take_number(write.change);
  if (journal->find(which) == kind::whole_cache)
    note_whole(self, write.key.cache, which); // the write keeps its place in the host's order
  else
    write.change = which;
}

bool is_overtaken(const state_type& state, const remote_write& write) {
  const auto* const journal = journal_of(state);
  return journal && write.change != 0 && write.key.cache->disk &&
         journal->is_overtaken(write.key, write.change);
}

bool was_told_since(const state_type& state, const remote_write& write) {
  const auto* const journal = journal_of(state);
  return journal && write.change != 0 && journal->was_told_since(write.key, write.change);
}

bool has_changed_since(const state_type& state, const cache_key& key,
                       const storage::logged_change& change) {
  const auto* const newest = state.writes.newest_of(key);
  if (newest && is_purge(*newest) && newest->change > change.number) return true;
  const auto* const journal = journal_of(state);
  return journal && journal->was_told_since(key, change.number);
}

void tell_put(self_pointer self, const remote_write& write, write_number which) {
  // A later insert tells nothing: the server keeps what it holds.
  if (self->state.writes.has_purge_after(which, write.key))
    return settle_change(self->state, write);
  const auto value = storage::hash_of_value(write.value);
  tell_later(self);
  const auto noted = note_anew(self, write.key, kind::put, value);
  // Otherwise it is told when the timer runs.
  if (noted && ++self->state.unheard.told_again[write.key] <= max_told_again)
    tell_anew(self, write.key);
}

namespace {

void end_check(state_type& state, const cache_key& key) {
  const auto at = state.unheard.checking.find(key);
  if (--at->second == 0) state.unheard.checking.erase(at);
}

} // namespace

void check_put(self_pointer self, const remote_write& write, write_number which) {
  auto& state = self->state;
  ++state.unheard.telling;
  ++state.unheard.checking[write.key];
  self->request(state.config.purges->shards.owner_of(write.key), caf::infinite, verb::get_v,
                write.key)
      .then(
          [self, write, which](const lookup& found) {
            end_check(self->state, write.key);
            if (found.hit() && same_bytes(found.value, write.value))
              settle_change(self->state, write);
            else
              tell_put(self, write, which);
            end_telling(self->state);
          },
          [self, write](const caf::error&) {
            end_check(self->state, write.key);
            keep_change(self, write);
            end_telling(self->state);
          });
}

bool is_checked(const state_type& state, const cache_key& key) {
  return state.unheard.checking.contains(key);
}

void note_told(const state_type& state, const remote_write& write) {
  auto* const journal = journal_of(state);
  if (journal && write.change != 0) journal->note_told(write.key, write.change);
}

std::optional<storage::logged_change> logged_change_of(const state_type& state,
                                                       const remote_write& write) {
  const auto* const journal = journal_of(state);
  if (!journal || journal->id() == 0 || write.change == 0) return std::nullopt;
  return storage::logged_change{journal->origin_of(write.change), write.change};
}

// What the log has behind a change that was left came later.
bool note_logged(state_type& state, const cache_key& key, const storage::logged_purge& purge) {
  const auto at = state.unheard.left.find(key);
  if (at == state.unheard.left.end() || at->second.is_queued || at->second.journal == 0)
    return false;
  auto& left = at->second;
  const auto& writer = state.config.purges->writer;
  if (left.was_passed) {
    left.is_logged = purge.writer.store == writer.store;
    return false;
  }
  if (purge.writer == writer) return false; // this process would tell what it has changed later
  const auto& logged = purge.change;
  const bool is_own = logged && (logged->journal == left.journal || logged->journal == left.holder);
  if (is_own && logged->number <= left.which) {
    left.is_logged = left.is_logged || logged->number == left.which;
    return false;
  }
  if (!is_own && !left.is_logged) return false;
  settle_left(state, key);
  return true;
}

void settle_change(state_type& state, const remote_write& write) {
  auto* const journal = journal_of(state);
  if (!journal || write.change == 0) return;
  journal->settle(write.change);
  const auto left = state.unheard.left.find(write.key);
  if (left != state.unheard.left.end() && left->second.which == write.change)
    state.unheard.left.erase(left);
}

void keep_change(self_pointer self, const remote_write& write) {
  auto& state = self->state;
  const auto* const journal = journal_of(state);
  if (!journal || write.change == 0) return;
  const auto what = journal->find(write.change);
  if (!what) return settle_change(state, write); // a later change of the entry counts
  const bool is_put = what == kind::put;
  state.unheard.left[write.key] = {write.change, is_put,
                                   is_put ? storage::hash_of_value(write.value) : 0};
  tell_later(self);
}

bool erase_before(self_pointer self, const cache_key& key) {
  const auto& state = self->state;
  const auto at = state.unheard.left.find(key);
  if (at == state.unheard.left.end()) return true;
  const auto change = at->second;
  const bool may_be_logged = change.journal != 0 && !change.is_queued && logs_purges(state);
  if (may_be_logged && (state.log.has_to_match || !has_read_purges(state))) return false;
  if (change.was_passed) return false; // it is told soon
  queue(self, key, change, nullptr);
  return true;
}

void meet_unheard(self_pointer self, std::function<void()> next) {
  self->state.unheard.seen = 0;
  look_for_unheard(self);
  std::vector<clearing> all;
  for (const auto& [cache, whole] : self->state.unheard.whole)
    if (!whole.is_cleared) all.push_back({whole.cache, whole.which, nullptr});
  clear_next(self, std::move(all), [self, next = std::move(next)](bool is_good) {
    if (!is_good) {
      const auto& config = self->state.config;
      config.log(log_level::warning, config.name +
                                         " did not let all entries of a cache be removed, "
                                         "of which too many were changed: this is tried "
                                         "again");
      tell_later(self);
    }
    next();
  });
}

void tell_unheard(self_pointer self) {
  auto& state = self->state;
  if (!is_in_service(state) || !has_read_purges(state)) return;
  if (logs_purges(state) && state.log.has_to_match) return tell_later(self);
  const std::vector<std::pair<cache_key, left_change>> left(state.unheard.left.begin(),
                                                            state.unheard.left.end());
  const bool tells_anew = !state.unheard.to_be_told.empty();
  if (tells_anew) tell_later(self);
  for (const auto& [key, change] : left) {
    drop_if_told(state, key);
    if (change.is_queued || !state.unheard.left.contains(key)) continue;
    if (change.was_passed) {
      tell_passed(self, key, change);
    } else if (!change.is_put) {
      queue(self, key, change, nullptr);
    } else if (!key.cache->disk || !journal_of(state)->is_overtaken(key, change.which)) {
      ++state.unheard.telling;
      tell_put_of(self, key, change, [self] { end_telling(self->state); });
    } else if (!tells_anew) {
      tell_anew(self, key);
    }
  }
}

void settle_whole_caches(state_type& state) {
  auto& unheard = state.unheard;
  if (unheard.whole.empty() || unheard.telling != 0 || !state.writes.empty()) return;
  std::erase_if(unheard.whole, [&](const auto& one) {
    if (one.second.is_cleared) journal_of(state)->settle(one.second.which);
    return one.second.is_cleared;
  });
}

void tell_again(self_pointer self) {
  auto& state = self->state;
  state.unheard.timer_is_due = false;
  state.unheard.told_again.clear();
  state.unheard.seen = 0;
  look_for_unheard(self);
  const bool has_whole = !state.unheard.whole.empty();
  const bool has_to_read = has_whole || (logs_purges(state) && state.log.has_to_match);
  if (has_to_read && is_in_service(state) && !state.log.is_reading) forget_purges(state);
  if (has_to_read && is_in_service(state)) return read_purges(self);
  tell_unheard(self);
}

} // namespace hearth::actors::remote
