#include "actors/remote_tier/purges.hpp"

#include "actors/remote_tier/service.hpp"
#include "actors/remote_tier/unheard.hpp"
#include "actors/remote_tier/writes.hpp"
#include "storage/remote/purge_log.hpp"
#include "storage/resp/server_error.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace hearth::actors::remote {
namespace {

using storage::log_place;
using storage::logged_purge;
using storage::remote_write;

// Short commands end before they would open a connection to wait on.
constexpr std::chrono::milliseconds before_waiting{200};
constexpr std::chrono::hours longest_wait{24};
constexpr std::chrono::milliseconds before_purging_again{1'000};
constexpr std::chrono::milliseconds before_looking_again{60'000}; // for a log that was not there
constexpr std::chrono::milliseconds longest_retry{10'000};
// A mark costs a sync of the store; what is not marked is read again by the next process.
constexpr std::size_t max_unmarked = 256;
// A server keeps a few more than it was asked to, and other hosts add some meanwhile.
constexpr std::size_t max_purges_of_reading = 10 * storage::max_logged_purges;

std::string log_of(const state_type& state) {
  return storage::purge_log_name(state.config.naming.prefix);
}

void answer_all(state_type& state) {
  state.config.gate->has_heard.store(true, std::memory_order_release);
  for (auto& waiting : std::exchange(state.log.waiting, {}))
    waiting.deliver(done{});
}

void wait_later(self_pointer self) {
  auto& log = self->state.log;
  if (!std::exchange(log.timer_is_due, true))
    self->delayed_send(self, std::max(before_waiting, log.retry_delay), verb::listen_v);
}

// --- applying ----------------------------------------------------------------------------------

// Calls `next` once all requests of a batch have ended, and `close` was called.
class purge_batch {
public:
  explicit purge_batch(std::function<void()> next)
      : next_(std::move(next)) {}
  void open() { ++open_; }
  void close() {
    if (--open_ == 0) next_();
  }

private:
  std::function<void()> next_;
  std::size_t open_ = 1;
};
using batch_ptr = std::shared_ptr<purge_batch>;

void clear_memory(self_pointer self, const batch_ptr& batch) {
  for (const auto& shard : self->state.config.purges->shards.all()) {
    batch->open();
    self->request(shard, caf::infinite, verb::clear_v)
        .then([batch](const done&) { batch->close(); },
              [batch](const caf::error&) { batch->close(); });
  }
}

// If the disk cannot drop all of its entries now, it is asked again.
void clear_disk(self_pointer self, std::function<void()> next) {
  const auto& disk_shards = self->state.config.purges->disk_shards;
  if (disk_shards.empty()) return next();
  ++self->state.log.clearing;
  self->request(disk_shards.front(), caf::infinite, verb::clear_v)
      .then(
          [self, next](const done&) {
            --self->state.log.clearing;
            next();
          },
          [self, next](const caf::error&) {
            self->delayed_send(self, before_purging_again, verb::clear_v);
            next();
          });
}

void end_dropping(state_type& state, const cache_key& key) {
  const auto at = state.log.purging.find(key);
  if (at != state.log.purging.end() && --at->second == 0) state.log.purging.erase(at);
}

// Asks the owner to drop this host's copies. If the disk cannot now, it is asked again.
void ask_owner(self_pointer self, const cache_key& key, std::function<void()> next) {
  auto& state = self->state;
  self->request(state.config.purges->shards.owner_of(key), caf::infinite, verb::purge_v, key)
      .then(
          [self, key, next](bool) {
            end_dropping(self->state, key);
            next();
          },
          [self, key, next](const caf::error&) {
            self->delayed_send(self, before_purging_again, verb::purge_v, key);
            next();
          });
}

void drop_in_batch(self_pointer self, const cache_key& key, const batch_ptr& batch) {
  ++self->state.counters.purges_heard;
  ++self->state.log.purging[key];
  batch->open();
  ask_owner(self, key, [batch] { batch->close(); });
}

// Tells the nearer tiers, before the shard is asked: what it looks up then, it does not find there.
void pass_on(self_pointer self, const cache_key& key, const std::string& told) {
  const auto& ports = *self->state.config.purges;
  if (ports.passes_on) ports.passes_on(key, told);
}

// A host passes on what comes after its mark, so it needs one, also of an empty log.
bool needs_first_mark(const state_type& state) {
  const auto* const ports = state.config.purges.get();
  return ports && ports->passes_on && !state.log.is_marked && !ports->disk_shards.empty();
}

// Gives up an insert that waits for this verdict.
void drop_refused(state_type& state, const cache_key& key) {
  const auto refused = state.log.refused.extract(key);
  if (!refused.empty()) (void)state.writes.finish(refused.mapped().which);
}

// Queued inserts were made before the purge.
void drop_inserts(state_type& state, const cache_key& key) {
  for (const auto in_flight : state.writes.drop_inserts(key))
    state.log.late.insert(in_flight);
}

// A queued put or erase of this process will come after the purge in the log, unless it is there
// already: its place shows.
bool is_overruled(state_type& state, const cache_key& key, const log_place& place) {
  const auto* newest = state.writes.newest_of(key);
  if (!newest) return false;
  if (is_purge(*newest)) {
    state.log.held[key] = place;
    return true;
  }
  drop_inserts(state, key);
  return false;
}

// Whether this host's copies are as the purge wants them: another process of it put the entry, or
// this host has changed it later. If one erased it last, this process may have taken it from the
// server before the server knew.
bool is_known(const state_type& state, const cache_key& key, const logged_purge& purge) {
  if (purge.writer.store != state.config.purges->writer.store) return false;
  return purge.is_put || (purge.change && has_changed_since(state, key, *purge.change));
}

void drop_everything(self_pointer self, const batch_ptr& batch, const std::string& why) {
  self->state.config.log(log_level::warning, why + ": everything that this host holds is dropped");
  batch->open();
  clear_disk(self, [batch] { batch->close(); });
  clear_memory(self, batch);
}

// `is_new`: it came after what this host had read of the log. Old purges are not passed on: every
// new host reads them, and what the nearer tiers have may be later.
void take_in(self_pointer self, const logged_purge& purge, const batch_ptr& batch, bool is_new) {
  auto& state = self->state;
  const auto& ports = *state.config.purges;
  const auto id = cache_id::make(purge.cache, purge.version);
  if (!id || purge.key.size() > max_key_bytes) return;
  const auto named = ports.cache_of(*id);
  if (!named->remote) return;
  const cache_key key(named, purge.key);
  if (!purge.is_whole) (void)note_logged(state, key, purge);
  if (purge.writer == ports.writer) return; // in the order of this process's own writes
  if (purge.is_whole) {
    if (purge.writer.store != ports.writer.store)
      drop_everything(self, batch, "another host has removed all of the cache " + purge.cache);
    return;
  }
  drop_refused(state, key);
  if (outlives_purge(self, key)) return drop_inserts(state, key);
  if (is_known(state, key, purge) || is_overruled(state, key, purge.place)) return;
  if (is_new) pass_on(self, key, purge.told);
  drop_in_batch(self, key, batch);
}

// Whether a purge that was applied before, by another process, came behind a change that was left
// and is in the log: the change outlives it no more.
bool ends_left(state_type& state, const logged_purge& purge) {
  if (state.unheard.left.empty()) return false;
  const auto id = cache_id::make(purge.cache, purge.version);
  if (!id || purge.is_whole || purge.key.size() > max_key_bytes) return false;
  const auto key = cache_key(state.config.purges->cache_of(*id), purge.key);
  return note_logged(state, key, purge);
}

// Applies the purges after `known`.
// `is_whole`: of a reading of the whole log, whose end may be before `known` if the server lost
// some.
void apply(self_pointer self, const std::vector<logged_purge>& purges,
           std::optional<log_place> known, bool is_whole, std::function<void()> next) {
  auto& log = self->state.log;
  if (!purges.empty() && (!known || purges.back().place > *known || is_whole))
    log.place = purges.back().place;
  log.unmarked += purges.size();
  const auto batch = std::make_shared<purge_batch>(std::move(next));
  for (const auto& purge : purges) {
    const bool is_new = !known || purge.place > *known;
    if (is_new || ends_left(self->state, purge)) take_in(self, purge, batch, known.has_value());
  }
  batch->close();
}

// --- reading -----------------------------------------------------------------------------------

// One reading of the log: from a known place on, or all of it.
struct reading {
  std::optional<log_place> known; // applied up to here
  bool is_whole = false;
  std::size_t count = 0;
  std::optional<log_place> first;
};

void read_on(self_pointer self, const reading& now, const log_place& from);

// Inserts that found the mark of a removed entry, which was removed before them. A server without
// scripts cannot replace that mark alone, and might replace a later one: there they are not shared.
void send_again(self_pointer self) {
  auto& state = self->state;
  auto all = std::exchange(state.log.refused, {});
  for (auto& [key, refused] : all) {
    const bool is_last_word = state.writes.newest_of(key) == &state.writes.sent(refused.which);
    auto write = state.writes.finish(refused.which);
    if (!is_last_word || !state.has_scripts) continue;
    write.what = remote_write::kind::overwrite;
    write.token = std::move(refused.mark);
    remote::write(self, std::move(write));
  }
}

void go_on_after_reading(self_pointer self) {
  auto& state = self->state;
  state.log.is_reading = false;
  if (state.log.has_to_match) return read_purges(self);
  state.log.is_read = true;
  state.log.is_there = true;
  state.log.retry_delay = {};
  mark_purges(self);
  answer_all(state);
  send_again(self);
  tell_unheard(self);
  if (state.log.has_waited)
    await_purges(self);
  else
    wait_later(self);
  if (is_in_service(state)) resume_writes(self);
  answer_syncs(state);
}

void fail_reading(self_pointer self, const remote_reply& why, bool is_whole = false) {
  auto& state = self->state;
  state.log.is_reading = false;
  state.log.has_to_match = state.log.has_to_match || is_whole;
  answer_all(state);
  for (const auto& [key, refused] : std::exchange(state.log.refused, {}))
    (void)state.writes.finish(refused.which);
  answer_syncs(state);
  if (why.failure == remote_failure::closed) return;
  state.log.retry_delay = std::clamp(2 * state.log.retry_delay, before_waiting, longest_retry);
  wait_later(self);
}

// Before other writes, the caches go of which too much was changed while the server was away.
void end_reading(self_pointer self) {
  meet_unheard(self, [self] { go_on_after_reading(self); });
}

void end_whole(self_pointer self, const reading& now, const batch_ptr& batch) {
  auto& log = self->state.log;
  if (!now.first) log.place = log_place{}; // an empty log: what comes may have any place
  const bool was_cut = now.count >= storage::max_logged_purges;
  if (now.known && was_cut && *now.first > *now.known)
    drop_everything(self, batch,
                    "this host was away for more purges than " + self->state.config.name +
                        " remembers");
}

void end_part(self_pointer self, reading now, const log_place& from, const remote_reply& reply) {
  if (lacks_log(reply)) return go_without_log(self, reply);
  if (reply.failure != remote_failure::none) return fail_reading(self, reply, now.is_whole);
  auto purges = storage::logged_purges(reply.value);
  if (!purges) return go_without_log(self, reply);
  if (now.count > max_purges_of_reading || (!purges->empty() && purges->front().place < from))
    return go_without_log(self, {remote_failure::garbage, "it has no end, or no order", {}});
  const bool has_start = !purges->empty() && purges->front().place == from;
  if (!now.is_whole && now.count == 0 && !has_start) {
    // The place up to which it was read is no longer in the log.
    now.is_whole = true;
    return read_on(self, now, {});
  }
  const bool has_more = purges->size() == storage::max_read_purges;
  if (now.count != 0 && has_start) purges->erase(purges->begin()); // it was the last one before
  now.count += purges->size();
  if (!now.first && !purges->empty()) now.first = purges->front().place;
  const auto last = purges->empty() ? from : purges->back().place;
  // The awaited reply may have told of some of them meanwhile.
  if (!now.is_whole) now.known = std::max(now.known, self->state.log.place);
  apply(self, *purges, now.known, now.is_whole, [self, now, last, has_more] {
    if (has_more) return read_on(self, now, last);
    const auto batch = std::make_shared<purge_batch>([self] { end_reading(self); });
    if (now.is_whole) end_whole(self, now, batch);
    batch->close();
  });
}

void read_on(self_pointer self, const reading& now, const log_place& from) {
  auto& state = self->state;
  send(self, command_purpose::log, storage::read_log_command(log_of(state), from),
       state.config.deadline,
       [self, now, from](const remote_reply& reply) { end_part(self, now, from, reply); });
}

// Without a store there is nothing from before: only the log's end counts.
void find_end(self_pointer self) {
  auto& state = self->state;
  send(self, command_purpose::log, storage::last_of_log_command(log_of(state)),
       state.config.deadline, [self](const remote_reply& reply) {
         if (lacks_log(reply)) return go_without_log(self, reply);
         if (reply.failure != remote_failure::none) return fail_reading(self, reply);
         const auto purges = storage::logged_purges(reply.value);
         if (!purges) return go_without_log(self, reply);
         self->state.log.place = purges->empty() ? log_place{} : purges->back().place;
         end_reading(self);
       });
}

void take_awaited(self_pointer self, const remote_reply& reply) {
  auto& log = self->state.log;
  log.is_waiting = false;
  if (reply.failure == remote_failure::closed) return;
  if (lacks_log(reply)) return go_without_log(self, reply);
  const auto purges = storage::awaited_purges(reply.value);
  if (reply.failure != remote_failure::none || !purges) {
    forget_purges(self->state);
    return wait_later(self);
  }
  apply(self, *purges, log.place, false, [self] {
    if (self->state.log.unmarked >= max_unmarked) mark_purges(self);
    await_purges(self);
  });
}

void go_on_without_log(self_pointer self) {
  auto& state = self->state;
  state.log.is_reading = false;
  answer_all(state);
  state.log.retry_delay = before_looking_again;
  wait_later(self);
  tell_unheard(self);
  if (is_in_service(state)) resume_writes(self);
  answer_syncs(state);
}

} // namespace

bool has_read_purges(const state_type& state) {
  return !state.log.is_on || !state.log.is_there || state.log.is_read;
}

bool awaits_first_mark(const state_type& state) {
  const auto& log = state.log;
  return needs_first_mark(state) && log.is_reading && is_in_service(state);
}

bool logs_purges(const state_type& state) { return state.log.is_on && state.log.is_there; }

void begin_purges(self_pointer self) {
  auto& state = self->state;
  if (!state.config.purges || std::exchange(state.log.is_on, true)) return;
  state.log.place =
      storage::place_in_marks(state.config.purges->mark, state.config.name, log_of(state));
  state.log.is_marked = state.log.place.has_value();
  look_for_unheard(self); // before the process's own changes
  read_purges(self);
}

void read_purges(self_pointer self) {
  auto& log = self->state.log;
  if (!logs_purges(self->state)) resume_writes(self); // which do not wait for a log
  if (!log.is_on) return;
  if (std::exchange(log.is_reading, true)) return;
  const bool has_to_match = std::exchange(log.has_to_match, false);
  if (log.place && *log.place != log_place{} && !has_to_match)
    read_on(self, {log.place, false, 0, std::nullopt}, *log.place);
  else if (self->state.config.purges->disk_shards.empty() && !log.place)
    find_end(self);
  else
    read_on(self, {log.place, true, 0, std::nullopt}, {});
}

void hear_purges(self_pointer self, reply_target<done> reply) {
  auto& state = self->state;
  const bool is_over = state.config.gate->has_heard.load(std::memory_order_relaxed);
  if (is_over || !logs_purges(state))
    reply.deliver(done{});
  else
    state.log.waiting.push_back(std::move(reply));
}

void await_purges(self_pointer self) {
  auto& state = self->state;
  auto& log = state.log;
  if (!log.is_on || log.is_reading) return;
  // Also while the server still has an older question to answer, which may take a day.
  if (!log.is_there || !log.is_read) {
    if (is_in_service(state)) read_purges(self); // otherwise when it is in service again
    return;
  }
  if (log.is_waiting) return;
  log.is_waiting = log.has_waited = true;
  send(self, command_purpose::notice,
       storage::await_log_command(log_of(state), log.place.value_or(log_place{})), longest_wait,
       [self](const remote_reply& reply) { take_awaited(self, reply); });
}

void drop_copies(self_pointer self, const cache_key& key) {
  pass_on(self, key, {});
  drop_in_batch(self, key, std::make_shared<purge_batch>([] {}));
}

void purge_again(self_pointer self, const cache_key& key) {
  auto& state = self->state;
  if (!state.log.purging.contains(key)) return;
  ask_owner(self, key, [] {});
}

void clear_again(self_pointer self) {
  auto& clearing = self->state.log.clearing;
  if (clearing == 0) return;
  --clearing;
  clear_disk(self, [] {});
}

void mark_purges(self_pointer self) {
  auto& state = self->state;
  // The next process has to carry them out.
  if (!state.log.purging.empty() || state.log.clearing != 0) return;
  const auto unmarked = std::exchange(state.log.unmarked, 0);
  if (!state.log.place) return;
  const auto& ports = *state.config.purges;
  if ((unmarked == 0 && !needs_first_mark(state)) || ports.disk_shards.empty()) return;
  state.log.is_marked = true;
  self->send(ports.disk_shards.front(), verb::heard_v,
             storage::log_mark(state.config.name, log_of(state), *state.log.place));
}

void forget_purges(state_type& state) { state.log.is_read = false; }

bool end_purge(self_pointer self, const cache_key& key, std::optional<log_place> place) {
  auto& state = self->state;
  const auto held = state.log.held.find(key);
  if (held == state.log.held.end()) return false;
  // In a cluster the log is on another node than the entry, which may have got the two in the other
  // order: the copy goes, and comes again from there.
  const bool counts = !place || held->second > *place || state.config.naming.has_hash_tags;
  const auto* const later = state.writes.newest_of(key);
  if (counts && later && is_purge(*later)) return false; // its end shows
  state.log.held.erase(held);
  if (counts) drop_copies(self, key);
  return !counts;
}

void await_verdict(self_pointer self, const cache_key& key, storage::write_behind::number which,
                   std::string mark) {
  auto& state = self->state;
  const bool may_replace = logs_purges(state) && !state.writes.sent(which).is_copy;
  if (!may_replace || state.log.refused.contains(key)) {
    (void)state.writes.finish(which);
    return;
  }
  state.log.refused.insert_or_assign(
      key, state_type::purge_log_record::refused_insert{which, std::move(mark)});
  forget_purges(state);
  read_purges(self);
}

std::string new_mark(state_type& state) {
  return storage::removed_mark(state.config.purges->writer.process + " " +
                               std::to_string(++state.last_mark));
}

bool lacks_log(const remote_reply& reply) {
  using storage::server_error;
  const auto text = server_text(reply);
  const auto said = storage::server_error_of(text);
  // Other words (UNBLOCKED, when a master becomes a replica) tell of the moment, not of the server.
  return reply.value.is_error() &&
         (said == server_error::no_command || said == server_error::forbidden ||
          said == server_error::wrong_type ||
          (said == server_error::other && text.starts_with("ERR ")));
}

void go_without_log(self_pointer self, const remote_reply& why) {
  auto& state = self->state;
  if (std::exchange(state.log.is_there, false))
    state.config.log(log_level::warning,
                     "purges by other hosts are not heard: " + state.config.name +
                         " keeps no log of them: " + std::string(server_text(why)));
  for (const auto& [key, refused] : std::exchange(state.log.refused, {}))
    (void)state.writes.finish(refused.which);
  meet_unheard(self, [self] { go_on_without_log(self); });
}

} // namespace hearth::actors::remote
