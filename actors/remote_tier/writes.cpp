#include "actors/remote_tier/writes.hpp"

#include "actors/remote_tier/counts.hpp"
#include "actors/remote_tier/leases.hpp"
#include "actors/remote_tier/purges.hpp"
#include "actors/remote_tier/service.hpp"
#include "actors/remote_tier/unheard.hpp"
#include "messages/expiry.hpp"
#include "messages/unix_time.hpp"
#include "storage/remote/commands.hpp"
#include "storage/remote/entry_names.hpp"
#include "storage/remote/member_envelope.hpp"
#include "storage/remote/purge_log.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace hearth::actors::remote {
namespace {

using storage::remote_write;
using number = storage::write_behind::number;

// Counts a write that does not reach the server.
void lose(state_type& state, const remote_write& write, std::string_view reason) {
  if (write.what == remote_write::kind::release) return; // the lease ends by itself
  ++counts_of(state, write.key).lost;
  count_failure(state, write.key, reason);
}

bool may_write(const state_type& state, const cache_key& key) {
  const bool could_sign = !key.cache->sign || !state.config.keys.empty();
  return state.config.mode != remote_mode::read_only && could_sign;
}

// Whether the server takes writes, or soon will.
bool takes_writes(const state_type& state) {
  return is_in_service(state) && state.writing.is_closed();
}

bool can_send(const state_type& state) { return takes_writes(state) && has_read_purges(state); }

// Whether an overwrite is to replace a mark only.
bool replaces_mark(const state_type& state, const remote_write& write) {
  return write.what == remote_write::kind::overwrite && !write.token.empty() && state.has_scripts;
}

// The command of a change of a set; empty if it cannot be sent.
remote_client::command set_command_of(const state_type& state, const remote_write& write) {
  const auto& config = state.config;
  auto name = storage::remote_set_name(config.naming, write.key);
  if (write.what == remote_write::kind::remove) {
    std::vector<std::string> fields;
    for (const auto& member : write.members)
      fields.push_back(storage::member_field(member));
    return storage::remove_fields_command(std::move(name), std::move(fields));
  }
  std::vector<storage::remote_field> fields;
  for (const auto& member : write.members) {
    auto sealed = storage::seal_member(write.key, member, config.keys);
    if (sealed.empty()) return {};
    fields.emplace_back(storage::member_field(member), std::move(sealed));
  }
  const auto ttl = state.has_scripts ? config.ttl : std::chrono::milliseconds(0);
  return storage::add_fields_command(std::move(name), std::move(fields), ttl);
}

// How long the server keeps a value: until its expiry, but not longer than the configuration says.
// A value that has expired by now ends at once: it still replaces what the server holds.
std::chrono::milliseconds ttl_of(const state_type& state, const artifact& value) {
  const auto end = expiry_of(value);
  if (end == 0) return state.config.ttl;
  const std::chrono::milliseconds left(std::max<std::int64_t>(end - unix_time_ms(), 1));
  return state.config.ttl.count() > 0 ? std::min(left, state.config.ttl) : left;
}

// The command of a write; empty if it cannot be sent.
remote_client::command command_of(state_type& state, const remote_write& write) {
  const auto& config = state.config;
  if (write.what == remote_write::kind::release) {
    if (!state.has_scripts) return {};
    return storage::release_command(storage::remote_lease_name(config.naming, write.key),
                                    write.token);
  }
  if (write.what == remote_write::kind::add || write.what == remote_write::kind::remove)
    return set_command_of(state, write);
  auto name = storage::remote_entry_name(config.naming, write.key);
  // Other programs do not know the mark of a removed entry.
  if (write.what == remote_write::kind::erase && write.key.cache->foreign)
    return storage::erase_command(std::move(name));
  if (write.what == remote_write::kind::erase)
    return logs_purges(state)
               ? storage::remove_command(std::move(name), new_mark(state))
               : storage::erase_command(std::move(name),
                                        storage::remote_set_name(config.naming, write.key));
  auto sealed = storage::seal_envelope(write.key, write.value, config.keys);
  if (sealed.empty()) return {};
  if (replaces_mark(state, write))
    return storage::replace_mark_command(std::move(name), write.token, std::move(sealed),
                                         ttl_of(state, write.value));
  return storage::set_command(std::move(name), std::move(sealed),
                              write.what == remote_write::kind::insert, ttl_of(state, write.value));
}

void retry_later(self_pointer self) {
  auto& state = self->state;
  if (!std::exchange(state.retry_is_due, true))
    self->delayed_send(self, state.writing.backoff(), verb::resend_v);
}

// Pauses writes: the server refuses them, but may still answer lookups.
void rest_writes(self_pointer self, const remote_reply& why) {
  auto& state = self->state;
  const auto said = std::string(server_text(why));
  if (state.writing.fail(true))
    state.config.log(log_level::warning,
                     state.config.name +
                         " takes no writes; they wait and are tried again: " + said);
  state.writing.end_probe(false);
  retry_later(self);
}

// Logs once what is wrong with a node of a cluster.
void note_ill_node(state_type& state, const remote_reply& why) {
  constexpr std::size_t most = 16; // nodes, and troubles of one
  const std::string said(server_text(why));
  if (state.ill_nodes.size() == most || !state.ill_nodes.insert(said).second) return;
  state.config.log(log_level::warning,
                   state.config.name + ": writes to a node are tried again: " + said);
}

// Called when the server has carried out a write.
void go_on_writing(state_type& state) {
  if (state.writing.now() != storage::breaker::phase::half_open) return;
  state.writing.end_probe(true);
  state.config.log(log_level::info, state.config.name + " takes writes again");
}

// Where the log of purges has a write, from the reply of the command that logged it.
std::optional<storage::log_place> place_in(const remote_reply& reply) {
  return storage::log_place_of(reply.value.text);
}

// Gives up a write: a purge of the same entry by another host counts again.
void give_up(self_pointer self, const remote_write& write, std::string_view reason) {
  lose(self->state, write, reason);
  if (!is_purge(write)) return;
  keep_change(self, write);
  (void)end_purge(self, write.key, std::nullopt);
}

void acknowledge(self_pointer self, number which, const remote_reply& reply) {
  auto& state = self->state;
  const auto write = state.writes.finish(which);
  if (is_purge(write)) note_told(state, write);
  if (write.what == remote_write::kind::put && is_overtaken(state, write))
    check_put(self, write, which);
  else if (is_purge(write))
    settle_change(state, write);
  if (write.what == remote_write::kind::release) return;
  auto& counts = counts_of(state, write.key);
  ++(write.what == remote_write::kind::insert && reply.value.is_null() ? counts.existed
                                                                       : counts.puts);
}

// An insert found an existing value. If the cache signs and that entry is not signed, no verifying
// reader can use it; and it may be the mark of a removed entry.
bool has_to_be_checked(const state_type& state, number which, const remote_reply& reply) {
  const auto& write = state.writes.sent(which);
  if (replaces_mark(state, write)) return reply.value.integer == 0; // it is another mark by now
  return write.what == remote_write::kind::insert && reply.value.is_null() &&
         state.config.mode == remote_mode::read_write &&
         (write.key.cache->sign || logs_purges(state));
}

// Whether the value that was found in place of a write is an entry that some host can use.
bool is_usable(const state_type& state, const remote_write& write, const remote_reply& found) {
  const bool is_there = found.value.type == storage::resp_value::kind::bytes;
  if (!is_there || !write.key.cache->sign) return true;
  const auto fault = storage::open_envelope(write.key, found.value.text, state.config.keys,
                                            state.config.max_value_bytes)
                         .fault;
  return fault == storage::envelope_fault::none || fault == storage::envelope_fault::too_large;
}

void end_check(self_pointer self, number which, const remote_reply& found) {
  auto& state = self->state;
  if (state.log.late.erase(which) != 0) {
    (void)state.writes.finish(which);
    return;
  }
  const auto& sent = state.writes.sent(which);
  const bool is_last_word = state.writes.newest_of(sent.key) == &sent;
  if (is_last_word && storage::is_removed_mark(found.value.text))
    return await_verdict(self, sent.key, which, found.value.text);
  auto write = state.writes.finish(which);
  const bool is_good = is_usable(state, write, found);
  if (is_good) ++counts_of(state, write.key).existed;
  if (is_good || !is_last_word) return;
  write.what = remote_write::kind::overwrite;
  write.token.clear(); // it is no mark that is replaced
  remote::write(self, std::move(write));
}

// The write stays in flight during the check, so a `drain` waits for it too.
void check_existing(self_pointer self, number which) {
  auto& state = self->state;
  const auto& key = state.writes.sent(which).key;
  auto name = storage::remote_entry_name(state.config.naming, key);
  send(self, command_purpose::lookup,
       key.cache->sign
           ? storage::get_command(std::move(name))
           : storage::get_start_command(std::move(name), storage::removed_mark_bytes + 1),
       state.config.deadline,
       [self, which](const remote_reply& reply) { end_check(self, which, reply); });
}

// Gives up a write that failed by itself; a retry would fail too.
void fail_write(self_pointer self, number which, const remote_reply& reply) {
  auto& state = self->state;
  const auto write = state.writes.finish(which);
  state.log.late.erase(which);
  const bool was_script = write.what == remote_write::kind::release || replaces_mark(state, write);
  if (was_script) note_script_failure(state, reply);
  state.writing.end_probe(true);
  if (write.what == remote_write::kind::release) return;
  give_up(self, write, was_script && !state.has_scripts ? "no scripts" : to_string(reply.failure));
}

void try_again(self_pointer self, number which, const remote_reply& reply) {
  auto& state = self->state;
  if (state.log.late.erase(which) != 0)
    (void)state.writes.finish(which);
  else if (const auto given_up = state.writes.retry(which))
    give_up(self, *given_up, to_string(reply.failure));
}

// An entry was stored although another host has purged it meanwhile. Which came first is unknown,
// so it is purged again, here too: a look-up may have found it on the server.
void undo_late(self_pointer self, number which) {
  auto write = self->state.writes.finish(which);
  // An insert came before the mark, and so did what replaced an earlier mark.
  if (write.what != remote_write::kind::overwrite || replaces_mark(self->state, write)) return;
  drop_copies(self, write.key);
  remote::write(self, {remote_write::kind::erase, std::move(write.key), {}, {}});
}

void end_write(self_pointer self, number which, const remote_reply& reply) {
  auto& state = self->state;
  if (reply.failure == remote_failure::closed) return fail_write(self, which, reply);
  switch (severity_of(reply, command_purpose::write)) {
  case failure_severity::none:
    go_on_writing(state);
    if (has_to_be_checked(state, which, reply)) return check_existing(self, which);
    if (state.log.late.erase(which) != 0) return undo_late(self, which);
    return acknowledge(self, which, reply);
  case failure_severity::entry: return fail_write(self, which, reply);
  case failure_severity::writes: try_again(self, which, reply); return rest_writes(self, reply);
  case failure_severity::node: // the client has held the write until its deadline: no pause here
    note_ill_node(state, reply);
    break;
  case failure_severity::service:
  case failure_severity::service_at_once: break;
  }
  try_again(self, which, reply);
  if (state.writing.now() != storage::breaker::phase::half_open) return;
  state.writing.end_probe(false);
  retry_later(self);
}

bool has_failed(const remote_reply& reply) {
  return reply.failure == remote_failure::closed ||
         severity_of(reply, command_purpose::write) != failure_severity::none;
}

// Ends a put or erase: it has failed unless all its commands have succeeded. A server without a log
// takes the change alone.
void end_logged(self_pointer self, number which, const remote_reply& change,
                const remote_reply& logged) {
  if (has_failed(change)) return end_write(self, which, change);
  const auto& write = self->state.writes.sent(which);
  const auto key = write.key;
  const auto put = told_put(self->state, write);
  if (lacks_log(logged)) {
    go_without_log(self, logged);
    end_write(self, which, change);
  } else {
    end_write(self, which, logged);
  }
  if (logged.failure != remote_failure::none) return;
  const bool has_outlived = end_purge(self, key, place_in(logged));
  if (has_outlived && put) drop_unless_put(self, key, *put);
}

// Whoever finds a mark reads the log, to see whether it was there before. A server carries out at
// once what is sent together; in a cluster the log is on another node, and the mark would be there
// for a while before it is logged. So an erase is logged before it too.
void send_logged(self_pointer self, number which, remote_client::command command) {
  const auto& state = self->state;
  const auto& write = state.writes.sent(which);
  const bool is_put = write.what == remote_write::kind::put;
  const auto log_command = [&] {
    return storage::log_purge_command(storage::purge_log_name(state.config.naming.prefix),
                                      state.config.purges->writer, is_put || write.is_put_here,
                                      write.key, state.config.purges->told,
                                      logged_change_of(state, write));
  };
  std::vector<remote_client::command> all;
  if (!is_put && state.config.naming.has_hash_tags) all.push_back(log_command());
  const auto first = all.size();
  all.push_back(std::move(command));
  // The entry may be a set, whose members are not where a value is.
  if (!is_put)
    all.push_back(storage::erase_command(storage::remote_set_name(state.config.naming, write.key)));
  all.push_back(log_command());
  const auto last = all.size() - 1;
  send_all(self, command_purpose::write, std::move(all), state.config.write_deadline,
           [self, which, first, last, change = std::make_shared<remote_reply>()](
               std::size_t place, const remote_reply& reply) {
             if (place == last) return end_logged(self, which, *change, reply);
             if (place == first || (place > first && has_failed(reply))) *change = reply;
           });
}

enum class next_write : std::uint8_t { none, ended, sent };

// Sends the next write, or ends it without the server.
next_write send_next(self_pointer self) {
  auto& state = self->state;
  number which = 0;
  const auto* next = state.writes.send_next(which);
  if (!next) return next_write::none;
  if (is_overtaken(state, *next) && next->what != remote_write::kind::erase) {
    const auto write = state.writes.finish(which);
    if (is_purge(write)) tell_put(self, write, which);
    return next_write::ended;
  }
  // But what this process has sent before may have come to the server behind what was told.
  if (next->what == remote_write::kind::erase && was_told_since(state, *next) &&
      !state.writes.follows_unknown(which)) {
    const auto write = state.writes.finish(which);
    settle_change(state, write);
    (void)end_purge(self, write.key, std::nullopt);
    return next_write::ended;
  }
  auto command = command_of(state, *next);
  if (command.empty()) {
    give_up(self, state.writes.finish(which), "unsealed");
    return next_write::ended;
  }
  if (is_purge(*next) && logs_purges(state)) {
    send_logged(self, which, std::move(command));
    return next_write::sent;
  }
  send(self, command_purpose::write, std::move(command), state.config.write_deadline,
       [self, which](const remote_reply& reply) { end_write(self, which, reply); });
  return next_write::sent;
}

} // namespace

void send_writes(self_pointer self) {
  while (can_send(self->state) && send_next(self) != next_write::none) {
  }
  settle_whole_caches(self->state);
  answer_syncs(self->state);
}

void retry_writes(self_pointer self) {
  auto& state = self->state;
  state.retry_is_due = false;
  // Otherwise retried when it is in service and the log of purges is read.
  if (!is_in_service(state) || !has_read_purges(state)) return;
  state.writing.begin_probe();
  auto next = next_write::ended;
  while (next == next_write::ended)
    next = send_next(self);
  if (next == next_write::none) state.writing.end_probe(true); // the next write shows
}

void resume_writes(self_pointer self) {
  if (self->state.writing.is_closed())
    send_writes(self);
  else
    retry_writes(self);
}

void write(self_pointer self, remote_write write) {
  auto& state = self->state;
  const bool is_release = write.what == remote_write::kind::release;
  if (!is_release && !may_write(state, write.key)) {
    if (is_purge(write)) settle_change(state, write);
    return;
  }
  if (is_purge(write)) note_change(self, write);
  if (write.value.payload().size() > state.config.max_value_bytes) {
    ++state.counters.too_large;
    lose(state, write, "too_large");
    if (write.what != remote_write::kind::put) return;
    write.what = remote_write::kind::erase; // what the server holds is older
    write.value = {};
    write.is_put_here = true;
  }
  // The shard has not carried out the purge of this entry yet: it was made before.
  if (write.what == remote_write::kind::insert && state.log.purging.contains(write.key)) return;
  if (write.what == remote_write::kind::insert && !erase_before(self, write.key)) return;
  if (write.what == remote_write::kind::insert && state.unusable_entries.erase(write.key) != 0)
    write.what = remote_write::kind::overwrite;
  for (const auto& dropped : state.writes.push(std::move(write))) {
    ++state.counters.dropped;
    give_up(self, dropped, "dropped");
  }
  send_writes(self);
}

void write_copy(self_pointer self, const cache_key& key, const artifact& value,
                storage::change_journal::number change) {
  if (self->state.writes.newest_of(key)) return;
  remote_write copy{remote_write::kind::insert, key, value, {}, {}, change};
  copy.is_copy = true;
  write(self, std::move(copy));
}

void answer_syncs(state_type& state) {
  const bool will_send = has_read_purges(state) || state.log.is_reading;
  const bool has_more = !state.writes.empty() || state.unheard.telling != 0;
  if (takes_writes(state) && will_send && has_more) return;
  if (awaits_first_mark(state)) return;
  if (!state.syncs.empty()) state.config.server->hurry(false);
  for (auto& waiting : std::exchange(state.syncs, {}))
    waiting.deliver(done{});
}

} // namespace hearth::actors::remote
