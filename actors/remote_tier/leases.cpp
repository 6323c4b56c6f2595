#include "actors/remote_tier/leases.hpp"

#include "actors/remote_tier/service.hpp"
#include "actors/remote_tier/writes.hpp"
#include "storage/remote/commands.hpp"
#include "storage/remote/entry_names.hpp"
#include "storage/resp/server_error.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace hearth::actors::remote {
namespace {

using storage::remote_write;

bool has_leases(const state_type& state) {
  return state.config.mode == remote_mode::read_write && is_in_service(state);
}

std::string lease_name(const state_type& state, const cache_key& key) {
  return storage::remote_lease_name(state.config.naming, key);
}

void renew_later(self_pointer self) {
  auto& state = self->state;
  if (!std::exchange(state.renewal_is_due, true))
    self->delayed_send(self, state.config.lease_time / 3, verb::renew_v);
}

void tell(state_type& state, state_type::asked_lease& asked, fleet_lease outcome) {
  auto& counters = state.counters;
  ++(outcome == fleet_lease::ours        ? counters.leases_granted
     : outcome == fleet_lease::elsewhere ? counters.leases_elsewhere
                                         : counters.leases_unavailable);
  asked.reply.deliver(outcome);
}

// How long a lease lasts until its grant is known. A grant whose answer is lost stands for nobody,
// so it lasts no longer than this process waits for answers: for the request, and for the renewal.
std::chrono::milliseconds first_lease_time(const state_type& state) {
  const auto& config = state.config;
  return state.has_scripts ? std::min(config.lease_time, 3 * config.deadline) : config.lease_time;
}

void end_lifetime_request(self_pointer self, const cache_key& key, const remote_reply& reply) {
  auto& state = self->state;
  const bool is_endless =
      reply.failure == remote_failure::none && !reply.value.is_error() && reply.value.integer == -1;
  if (!is_endless) return;
  ++state.counters.leases_endless;
  state.config.log(log_level::warning, state.config.name +
                                           " has a lease without expiry, which nobody will end: it "
                                           "gets one");
  send(self, command_purpose::lease,
       storage::expire_command(lease_name(state, key), state.config.lease_time),
       state.config.deadline, [](const remote_reply&) {});
}

// A lease without expiry would never end. Looks once a lease time whether another's lease has one.
void check_expiry(self_pointer self, const cache_key& key) {
  constexpr std::size_t max_checked = 4096;
  auto& state = self->state;
  const auto now = self->clock().now();
  if (state.leases_checked.size() >= max_checked) state.leases_checked.clear();
  auto [at, is_new] = state.leases_checked.try_emplace(key, now);
  if (!is_new && now - at->second < state.config.lease_time) return;
  at->second = now;
  send(self, command_purpose::lease, storage::lifetime_command(lease_name(state, key)),
       state.config.deadline,
       [self, key](const remote_reply& reply) { end_lifetime_request(self, key, reply); });
}

// The server may or may not have granted the lease; a release gives it back if it did.
void tell_unknown(self_pointer self, state_type::asked_lease& asked) {
  tell(self->state, asked, fleet_lease::unavailable);
  write(self, {remote_write::kind::release, asked.key, {}, asked.token});
}

void end_renewal(self_pointer self, const cache_key& key, const std::string& token,
                 caf::actor_clock::time_point ends, const remote_reply& reply) {
  auto& state = self->state;
  const auto held = state.leases.find(key);
  if (reply.failure != remote_failure::none) {
    const bool was_renewed_by_script = state.has_scripts;
    note_script_failure(state, reply);
    // The first renewal found out. The lease was granted just before, so it is still this
    // process's.
    if (was_renewed_by_script && !state.has_scripts && held != state.leases.end())
      send(self, command_purpose::lease,
           storage::expire_command(lease_name(state, key), state.config.lease_time),
           state.config.deadline, [](const remote_reply&) {});
    return;
  }
  if (!std::exchange(state.has_scripts, true))
    state.config.log(log_level::info,
                     state.config.name + " runs scripts again: leases are renewed");
  const bool is_renewed = reply.value.integer != 0;
  const bool is_held = held != state.leases.end() && held->second.token == token;
  // Given back meanwhile: a renewal takes a free lease again.
  if (is_renewed && !is_held) return write(self, {remote_write::kind::release, key, {}, token});
  if (is_renewed && is_held) held->second.ends = ends;
  if (is_renewed || !is_held) return;
  state.leases.erase(held); // the lease expired before the renewal, and another process took it
  ++state.counters.leases_lost;
}

void renew(self_pointer self, const cache_key& key, const std::string& token) {
  const auto& config = self->state.config;
  const auto ends = self->clock().now() + config.lease_time;
  send(self, command_purpose::lease,
       storage::renew_command(lease_name(self->state, key), token, config.lease_time),
       config.deadline, [self, key, token, ends](const remote_reply& reply) {
         end_renewal(self, key, token, ends, reply);
       });
}

void end_request(self_pointer self, std::uint64_t token, const remote_reply& reply) {
  auto& state = self->state;
  auto node = state.lease_requests.extract(token);
  if (node.empty()) return; // the request was given up
  auto& asked = node.mapped();
  if (reply.failure != remote_failure::none || reply.value.is_error()) {
    const bool was_refused =
        storage::server_error_of(server_text(reply)) != storage::server_error::none;
    return was_refused ? tell(state, asked, fleet_lease::unavailable) : tell_unknown(self, asked);
  }
  if (reply.value.is_null()) {
    check_expiry(self, asked.key);
    return tell(state, asked, fleet_lease::elsewhere);
  }
  state.leases_checked.erase(asked.key);
  state.leases[asked.key] = {asked.token, asked.ends};
  if (first_lease_time(state) < state.config.lease_time) renew(self, asked.key, asked.token);
  tell(state, asked, fleet_lease::ours);
  renew_later(self);
}

} // namespace

void take_lease(self_pointer self, const cache_key& key, reply_target<fleet_lease> asker) {
  auto& state = self->state;
  const auto number = ++state.last_token;
  state_type::asked_lease asked{key, state.config.holder + "-" + std::to_string(number),
                                std::move(asker), self->clock().now() + first_lease_time(state)};
  if (!has_leases(state)) return tell(state, asked, fleet_lease::unavailable);
  send(self, command_purpose::lease,
       storage::lease_command(lease_name(state, key), asked.token, first_lease_time(state)),
       state.config.deadline,
       [self, number](const remote_reply& reply) { end_request(self, number, reply); });
  state.lease_requests.emplace(number, std::move(asked));
}

void give_back(self_pointer self, const cache_key& key) {
  const auto held = self->state.leases.extract(key);
  if (!held.empty()) write(self, {remote_write::kind::release, key, {}, held.mapped().token});
}

void give_all_back(self_pointer self) {
  for (const auto& [key, held] : std::exchange(self->state.leases, {}))
    write(self, {remote_write::kind::release, key, {}, held.token});
}

void renew_leases(self_pointer self) {
  auto& state = self->state;
  state.renewal_is_due = false;
  if (state.leases.empty()) return;
  renew_later(self);
  if (!has_leases(state)) return;
  for (const auto& [key, held] : state.leases) {
    renew(self, key, held.token);
    if (!state.has_scripts) return; // one finds out whether it runs them again
  }
}

void give_up_lease_requests(self_pointer self) {
  auto asked_for = std::exchange(self->state.lease_requests, {});
  for (auto& [number, asked] : asked_for)
    tell_unknown(self, asked);
}

void note_script_failure(state_type& state, const remote_reply& reply) {
  using storage::server_error;
  const auto said = storage::server_error_of(server_text(reply));
  if (said != server_error::no_command && said != server_error::forbidden) return;
  if (std::exchange(state.has_scripts, false))
    state.config.log(log_level::warning, state.config.name +
                                             " runs no scripts: leases of the fleet are neither "
                                             "renewed nor given back, they end by themselves");
}

} // namespace hearth::actors::remote
