#include "actors/remote_tier/lookups.hpp"

#include "actors/remote_tier/counts.hpp"
#include "actors/remote_tier/service.hpp"
#include "actors/remote_tier/unheard.hpp"
#include "messages/expiry.hpp"
#include "storage/remote/commands.hpp"
#include "storage/remote/entry_names.hpp"
#include "storage/resp/server_error.hpp"

#include <string>
#include <utility>

namespace hearth::actors::remote {
namespace {

using storage::envelope_fault;
using storage::remote_write;

// The newest queued write of the key: the value that the server is going to hold.
const remote_write* find_in_writes(const state_type& state, const cache_key& key) {
  return may_look(state, key) ? state.writes.newest_of(key) : nullptr;
}

// Whether the server has to be asked. If not, `answer` holds the result.
bool has_to_ask(self_pointer self, const cache_key& key, expected<lookup>& answer) {
  auto& state = self->state;
  if (const auto* newest = find_in_writes(state, key)) {
    if (newest->what == remote_write::kind::erase) return false;
    if (is_overtaken(state, *newest))
      answer = lookup::unanswered();
    else if (!has_expired(newest->value))
      answer = lookup{tier::remote, newest->value};
    return false;
  }
  if (is_checked(state, key)) {
    ++counts_of(state, key).misses;
    answer = lookup::unanswered();
    return false;
  }
  if (const auto unheard = unheard_of(self, key); unheard != unheard_state::none) {
    ++counts_of(state, key).misses;
    if (unheard == unheard_state::unknown) answer = lookup::unanswered();
    return false;
  }
  if (may_look(state, key) && is_in_service(state)) return true;
  ++counts_of(state, key).skipped;
  answer = lookup::unanswered();
  return false;
}

expected<lookup> miss(state_type& state, const cache_key& key) {
  ++counts_of(state, key).misses;
  return lookup{};
}

expected<lookup> fail_lookup(state_type& state, const cache_key& key, std::string_view reason) {
  count_failure(state, key, reason);
  ++counts_of(state, key).misses;
  return lookup::unanswered();
}

// Marks the key, so that the next insert replaces the unusable entry (SET NX would keep it).
void note_unusable(state_type& state, const cache_key& key) {
  constexpr std::size_t max = 4096;
  if (state.unusable_entries.size() >= max) state.unusable_entries.clear();
  state.unusable_entries.insert(key);
}

expected<lookup> open_entry(state_type& state, const cache_key& key, std::string_view bytes) {
  if (storage::is_removed_mark(bytes)) return miss(state, key);
  auto opened = storage::open_envelope(key, bytes, state.config.keys, state.config.max_value_bytes);
  if (opened.fault != envelope_fault::none) {
    if (opened.fault != envelope_fault::too_large) note_unusable(state, key);
    return fail_lookup(state, key, to_string(opened.fault));
  }
  if (has_expired(opened.value)) { // by this host's clock, before the server's
    note_unusable(state, key);
    return miss(state, key);
  }
  ++counts_of(state, key).hits;
  return lookup{tier::remote, std::move(opened.value)};
}

expected<lookup> found_in(state_type& state, const cache_key& key, const remote_reply& reply) {
  const auto& value = reply.value;
  if (reply.failure != remote_failure::none) {
    if (storage::server_error_of(server_text(reply)) == storage::server_error::wrong_type)
      note_unusable(state, key);
    return fail_lookup(state, key, to_string(reply.failure));
  }
  if (value.is_null()) return miss(state, key);
  if (value.type == storage::resp_value::kind::bytes) return open_entry(state, key, value.text);
  return fail_lookup(state, key, to_string(remote_failure::garbage));
}

void end_lookup(state_type& state, std::uint64_t number, std::size_t which,
                const remote_reply& reply) {
  const auto at = state.lookups.find(number);
  if (at == state.lookups.end()) return; // the lookup was given up
  auto& asked = at->second;
  const auto place = std::exchange(asked.places[which], asked.answered);
  asked.answers[place] = found_in(state, asked.keys[place], reply);
  if (--asked.open != 0) return;
  const auto over = state.lookups.extract(at);
  over.mapped().reply.deliver(std::move(over.mapped().answers));
}

} // namespace

bool may_look(const state_type& state, const cache_key& key) {
  const bool could_verify = !key.cache->sign || !state.config.keys.empty();
  return state.config.mode != remote_mode::write_only && could_verify;
}

void look_up(self_pointer self, const key_list& keys, const shared_promise<lookup_list>& reply) {
  auto& state = self->state;
  if (is_in_service(state)) look_for_unheard(self);
  lookup_list answers(keys.size());
  std::vector<std::size_t> places;
  std::vector<remote_client::command> commands;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!has_to_ask(self, keys[i], answers[i])) continue;
    commands.push_back(
        storage::get_command(storage::remote_entry_name(state.config.naming, keys[i])));
    places.push_back(i);
  }
  if (commands.empty()) return reply.deliver(std::move(answers));
  const auto number = ++state.last_lookup;
  state.lookups.emplace(number,
                        state_type::asked_entries{keys, std::move(answers), std::move(places),
                                                  commands.size(), reply});
  send_all(self, command_purpose::lookup, std::move(commands), state.config.deadline,
           [self, number](std::size_t which, const remote_reply& answer) {
             end_lookup(self->state, number, which, answer);
           });
}

void give_up_lookups(state_type& state, std::string_view reason) {
  auto given_up = std::exchange(state.lookups, {});
  for (auto& [number, asked] : given_up) {
    for (const auto place : asked.places)
      if (place != asked.answered)
        asked.answers[place] = fail_lookup(state, asked.keys[place], reason);
    asked.reply.deliver(std::move(asked.answers));
  }
}

} // namespace hearth::actors::remote
