#include "actors/remote/parts.hpp"
#include "storage/remote/commands.hpp"
#include "storage/remote/server_error.hpp"

#include <string>
#include <utility>

namespace hearth::actors::remote {
namespace {

using storage::envelope_fault;
using storage::remote_write;

bool may_look(const state_type& state, const cache_key& key) {
  const bool could_verify = !key.cache->sign || !state.config.keys.empty();
  return state.config.mode != remote_mode::write_only && could_verify;
}

// What is written behind is what the server is going to hold.
bool answer_from_writes(state_type& state, const cache_key& key, answer<lookup>& reply) {
  const auto* newest = state.writes.newest_of(key);
  if (!newest) return false;
  if (newest->what == remote_write::kind::erase)
    reply.deliver(lookup{});
  else
    reply.deliver(lookup{tier::remote, newest->value});
  return true;
}

void miss(state_type& state, state_type::asked_entry& asked) {
  ++counts_of(state, asked.key).misses;
  asked.reply.deliver(lookup{});
}

void fail_lookup(state_type& state, state_type::asked_entry& asked, std::string_view reason) {
  count_failure(state, asked.key, reason);
  miss(state, asked);
}

// What stands there would keep inserts of the key away for ever.
void note_spoiled(state_type& state, const cache_key& key) {
  constexpr std::size_t most = 4096;
  if (state.spoiled.size() >= most) state.spoiled.clear();
  state.spoiled.insert(key);
}

void open_entry(state_type& state, state_type::asked_entry& asked, std::string_view bytes) {
  auto opened =
      storage::open_envelope(asked.key, bytes, state.config.keys, state.config.most_value_bytes);
  if (opened.fault != envelope_fault::none) {
    if (opened.fault != envelope_fault::too_large) note_spoiled(state, asked.key);
    return fail_lookup(state, asked, to_string(opened.fault));
  }
  ++counts_of(state, asked.key).hits;
  asked.reply.deliver(lookup{tier::remote, std::move(opened.value)});
}

void end_lookup(state_type& state, std::uint64_t number, const remote_reply& reply) {
  auto node = state.lookups.extract(number);
  if (node.empty()) return; // it was given up
  auto& asked = node.mapped();
  const auto& value = reply.value;
  if (storage::server_error_of(server_text(reply)) == storage::server_error::wrong_type)
    note_spoiled(state, asked.key);
  if (reply.failure != remote_failure::none)
    fail_lookup(state, asked, to_string(reply.failure));
  else if (value.is_null())
    miss(state, asked);
  else if (value.type == storage::resp_value::kind::bytes)
    open_entry(state, asked, value.text);
  else
    fail_lookup(state, asked, to_string(remote_failure::garbage));
}

} // namespace

void look_up(self_pointer self, const cache_key& key, answer<lookup> asker) {
  auto& state = self->state;
  if (may_look(state, key) && answer_from_writes(state, key, asker)) return;
  if (!may_look(state, key) || !is_in_service(state)) {
    ++counts_of(state, key).skipped;
    asker.deliver(lookup{});
    return;
  }
  const auto number =
      send(self, errand::lookup,
           storage::get_command(storage::remote_entry_name(state.config.prefix, key)),
           state.config.deadline, [self](std::uint64_t command, const remote_reply& reply) {
             end_lookup(self->state, command, reply);
           });
  state.lookups.emplace(number, state_type::asked_entry{key, std::move(asker)});
}

void give_up_lookups(state_type& state, std::string_view reason) {
  auto asked_for = std::exchange(state.lookups, {});
  for (auto& [number, asked] : asked_for)
    fail_lookup(state, asked, reason);
}

} // namespace hearth::actors::remote
