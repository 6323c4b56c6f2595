#include "actors/remote_tier/writes.hpp"

#include "actors/remote_tier/counts.hpp"
#include "actors/remote_tier/leases.hpp"
#include "actors/remote_tier/service.hpp"
#include "storage/remote/commands.hpp"
#include "storage/remote/member_envelope.hpp"

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

bool can_send(const state_type& state) { return is_in_service(state) && state.writing.is_closed(); }

// The command of a change of a set; empty if it cannot be sent.
remote_client::command set_command_of(const state_type& state, const remote_write& write) {
  const auto& config = state.config;
  auto name = storage::remote_set_name(config.prefix, write.key);
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

// The command of a write; empty if it cannot be sent.
remote_client::command command_of(const state_type& state, const remote_write& write) {
  const auto& config = state.config;
  if (write.what == remote_write::kind::release) {
    if (!state.has_scripts) return {};
    return storage::release_command(storage::remote_lease_name(config.prefix, write.key),
                                    write.token);
  }
  if (write.what == remote_write::kind::add || write.what == remote_write::kind::remove)
    return set_command_of(state, write);
  auto name = storage::remote_entry_name(config.prefix, write.key);
  if (write.what == remote_write::kind::erase) return storage::erase_command(std::move(name));
  auto sealed = storage::seal_envelope(write.key, write.value, config.keys);
  if (sealed.empty()) return {};
  return storage::set_command(std::move(name), std::move(sealed),
                              write.what == remote_write::kind::insert, config.ttl);
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

// Called when the server has carried out a write.
void go_on_writing(state_type& state) {
  if (state.writing.now() != storage::breaker::phase::half_open) return;
  state.writing.end_probe(true);
  state.config.log(log_level::info, state.config.name + " takes writes again");
}

void acknowledge(state_type& state, const remote_write& write, const remote_reply& reply) {
  if (write.what == remote_write::kind::release) return;
  auto& counts = counts_of(state, write.key);
  ++(write.what == remote_write::kind::insert && reply.value.is_null() ? counts.existed
                                                                       : counts.puts);
}

// A signed insert found an existing entry. If that entry is not signed, no verifying reader can use
// it, so it is checked.
bool has_to_be_checked(const state_type& state, number which, const remote_reply& reply) {
  const auto& write = state.writes.sent(which);
  return write.what == remote_write::kind::insert && reply.value.is_null() &&
         write.key.cache->sign && state.config.mode == remote_mode::read_write;
}

void end_check(self_pointer self, number which, const remote_reply& found) {
  auto& state = self->state;
  const auto& sent = state.writes.sent(which);
  const bool is_last_word = state.writes.newest_of(sent.key) == &sent;
  auto write = state.writes.finish(which);
  const bool is_there = found.value.type == storage::resp_value::kind::bytes;
  const auto fault = is_there
                         ? storage::open_envelope(write.key, found.value.text, state.config.keys,
                                                  state.config.max_value_bytes)
                               .fault
                         : storage::envelope_fault::none;
  const bool is_good =
      fault == storage::envelope_fault::none || fault == storage::envelope_fault::too_large;
  if (is_good) ++counts_of(state, write.key).existed;
  if (is_good || !is_last_word) return;
  write.what = remote_write::kind::put;
  remote::write(self, std::move(write));
}

// The write stays in flight during the check, so a `drain` waits for it too.
void check_existing(self_pointer self, number which) {
  auto& state = self->state;
  const auto& key = state.writes.sent(which).key;
  send(self, command_purpose::lookup,
       storage::get_command(storage::remote_entry_name(state.config.prefix, key)),
       state.config.deadline,
       [self, which](const remote_reply& reply) { end_check(self, which, reply); });
}

// Gives up a write that failed by itself; a retry would fail too.
void fail_write(state_type& state, number which, const remote_reply& reply) {
  const auto write = state.writes.finish(which);
  if (write.what == remote_write::kind::release)
    note_script_failure(state, reply);
  else
    lose(state, write, to_string(reply.failure));
  state.writing.end_probe(true);
}

void try_again(state_type& state, number which, const remote_reply& reply) {
  if (const auto given_up = state.writes.retry(which))
    lose(state, *given_up, to_string(reply.failure));
}

void end_write(self_pointer self, number which, const remote_reply& reply) {
  auto& state = self->state;
  if (reply.failure == remote_failure::closed) return fail_write(state, which, reply);
  switch (severity_of(reply, command_purpose::write)) {
  case failure_severity::none:
    go_on_writing(state);
    if (has_to_be_checked(state, which, reply)) return check_existing(self, which);
    return acknowledge(state, state.writes.finish(which), reply);
  case failure_severity::entry: return fail_write(state, which, reply);
  case failure_severity::writes: try_again(state, which, reply); return rest_writes(self, reply);
  case failure_severity::service:
  case failure_severity::service_at_once: break;
  }
  try_again(state, which, reply);
  if (state.writing.now() != storage::breaker::phase::half_open) return;
  state.writing.end_probe(false);
  retry_later(self);
}

// Sends the next write; returns false if none may be sent.
bool send_one(self_pointer self) {
  auto& state = self->state;
  number which = 0;
  const auto* next = state.writes.send_next(which);
  if (!next) return false;
  auto command = command_of(state, *next);
  if (command.empty()) {
    lose(state, state.writes.finish(which), "unsealed");
    return true;
  }
  send(self, command_purpose::write, std::move(command), state.config.write_deadline,
       [self, which](const remote_reply& reply) { end_write(self, which, reply); });
  return true;
}

} // namespace

void send_writes(self_pointer self) {
  while (can_send(self->state) && send_one(self)) {
  }
  answer_syncs(self->state);
}

void retry_writes(self_pointer self) {
  auto& state = self->state;
  state.retry_is_due = false;
  if (!is_in_service(state)) return; // retried when it is in service
  state.writing.begin_probe();
  if (!send_one(self)) state.writing.end_probe(true); // no write to try with: the next one shows
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
  if (!is_release && !may_write(state, write.key)) return;
  if (write.value.payload().size() > state.config.max_value_bytes) {
    ++state.counters.too_large;
    return lose(state, write, "too_large");
  }
  if (write.what == remote_write::kind::insert && state.unusable_entries.erase(write.key) != 0)
    write.what = remote_write::kind::put;
  for (const auto& dropped : state.writes.push(std::move(write))) {
    ++state.counters.dropped;
    lose(state, dropped, "dropped");
  }
  send_writes(self);
}

void answer_syncs(state_type& state) {
  if (can_send(state) && !state.writes.empty()) return;
  for (auto& waiting : std::exchange(state.syncs, {}))
    waiting.deliver(done{});
}

} // namespace hearth::actors::remote
