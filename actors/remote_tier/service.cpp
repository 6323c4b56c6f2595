#include "actors/remote_tier/service.hpp"

#include "actors/remote_tier/leases.hpp"
#include "actors/remote_tier/lookups.hpp"
#include "actors/remote_tier/purges.hpp"
#include "actors/remote_tier/sets.hpp"
#include "actors/remote_tier/writes.hpp"
#include "actors/thread_unit.hpp"
#include "storage/remote/commands.hpp"

#include <caf/send.hpp>

#include <string>
#include <utility>

namespace hearth::actors::remote {
namespace {

void open_gate(state_type& state, bool is_open) {
  const bool is_useful = is_open && state.config.mode != remote_mode::write_only;
  state.config.gate->is_open.store(is_useful, std::memory_order_relaxed);
}

void probe_later(self_pointer self) {
  self->delayed_send(self, self->state.service.backoff(), verb::ping_v);
}

std::string problem_of(const remote_reply& reply) {
  const auto text = server_text(reply);
  return std::string(to_string(reply.failure)) + (text.empty() ? "" : ": " + std::string(text));
}

// The breaker opened: pending lookups and lease requests are answered at once.
void go_without(self_pointer self, const remote_reply& why) {
  auto& state = self->state;
  open_gate(state, false);
  forget_purges(state);
  state.config.log(log_level::warning, "going on without " + state.config.name +
                                           ", which is tried again: " + problem_of(why));
  give_up_lookups(state, to_string(why.failure));
  give_up_sets(state, to_string(why.failure));
  give_up_lease_requests(self);
  answer_syncs(state);
  if (!state.probe_is_out) probe_later(self);
}

void judge(self_pointer self, const remote_reply& reply, command_purpose what) {
  auto& state = self->state;
  if (what == command_purpose::notice) return;
  const auto found = severity_of(reply, what);
  // Hearing of purges is more than a caller asked for: only what shows that the server is gone
  // counts.
  if (what == command_purpose::log && found != failure_severity::service_at_once) return;
  if (found != failure_severity::none) state.counters.problem = problem_of(reply);
  if (found == failure_severity::none || found == failure_severity::writes)
    return state.service.succeed();
  if (found == failure_severity::entry || found == failure_severity::node) return;
  if (state.service.fail(found == failure_severity::service_at_once)) go_without(self, reply);
}

bool is_well(const remote_reply& reply) {
  return reply.failure != remote_failure::closed &&
         severity_of(reply, command_purpose::probe) == failure_severity::none;
}

void end_probe(self_pointer self, const remote_reply& reply) {
  auto& state = self->state;
  state.probe_is_out = false;
  if (is_in_service(state)) return; // the first probe only connects
  state.service.begin_probe();      // if the breaker opened while the probe was in flight
  state.service.end_probe(is_well(reply));
  if (!is_in_service(state)) return probe_later(self);
  open_gate(state, true);
  state.config.log(log_level::info, state.config.name + " is used again");
  read_purges(self);
}

void take_reply(self_pointer self, const reply_inbox::item& item) {
  auto& state = self->state;
  state.has_answered = state.has_answered || item.reply.failure == remote_failure::none;
  const auto at = state.exchanges.find(item.exchange);
  if (at == state.exchanges.end()) return;
  auto& exchange = at->second; // valid while new exchanges are added
  exchange.next(item.which, item.reply);
  judge(self, item.reply, exchange.what);
  if (--exchange.open == 0) state.exchanges.erase(item.exchange);
}

remote_client::lane lane_of(command_purpose what) {
  if (what == command_purpose::notice) return remote_client::lane::notices;
  return what == command_purpose::write ? remote_client::lane::writes : remote_client::lane::reads;
}

// Whether the connections' thread may handle a reply. Opening a large entry takes long, and so may
// preparing the next writes.
bool takes_no_time(remote_client::lane by, const remote_reply& reply) {
  constexpr std::size_t max_bytes = std::size_t{512} << 10;
  return by == remote_client::lane::reads && reply.value.text.size() <= max_bytes;
}

} // namespace

void send_all(self_pointer self, command_purpose what, std::vector<remote_client::command> commands,
              std::chrono::milliseconds deadline, state_type::reply_handler next) {
  auto& state = self->state;
  const auto number = ++state.last_exchange;
  state.exchanges.emplace(number, state_type::exchange{what, commands.size(), std::move(next)});
  const auto lane = lane_of(what);
  state.config.server->send_all(lane, std::move(commands), deadline,
                                [to = remote_tier_actor(self), inbox = state.inbox, number,
                                 lane](std::size_t which, remote_reply reply) {
                                  const bool is_quick = takes_no_time(lane, reply);
                                  if (!inbox->put({number, which, std::move(reply)})) return;
                                  if (is_quick)
                                    send_from_thread(to, verb::take_reply_v);
                                  else
                                    caf::anon_send(to, verb::take_reply_v);
                                });
}

void send(self_pointer self, command_purpose what, remote_client::command command,
          std::chrono::milliseconds deadline, std::function<void(const remote_reply&)> next) {
  std::vector<remote_client::command> one;
  one.push_back(std::move(command));
  send_all(self, what, std::move(one), deadline,
           [next = std::move(next)](std::size_t, const remote_reply& reply) { next(reply); });
}

void take_replies(self_pointer self) {
  auto& taken = self->state.taken;
  self->state.inbox->take(taken);
  for (const auto& item : taken)
    take_reply(self, item);
  taken.clear();
  send_writes(self);
}

void probe(self_pointer self) {
  auto& state = self->state;
  if (std::exchange(state.probe_is_out, true)) return;
  state.service.begin_probe();
  send(self, command_purpose::probe, storage::ping_command(), state.config.probe_deadline,
       [self](const remote_reply& reply) { end_probe(self, reply); });
}

void watch(self_pointer self) {
  auto& state = self->state;
  const auto patience = state.has_answered ? state.config.deadline : state.config.probe_deadline;
  send(self, command_purpose::probe, storage::ping_command(), patience,
       [self](const remote_reply& reply) {
         if (is_well(reply) && !self->state.syncs.empty())
           self->delayed_send(self, self->state.config.deadline, verb::ping_v);
       });
}

} // namespace hearth::actors::remote
