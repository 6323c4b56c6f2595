#include "actors/memory_shard/patience.hpp"

#include "actors/memory_shard/lease.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace hearth::actors::shard {
namespace {

void look_again_at(self_pointer self, state_type::time_point when) {
  auto& state = self->state;
  if (std::exchange(state.patience_is_due, true)) return;
  self->delayed_send(self, std::max(when - self->clock().now(), state_type::time_point::duration{}),
                     verb::end_waits_v);
}

std::string_view stage_text(storage::lease_stage stage) {
  switch (stage) {
  case storage::lease_stage::checking: return "looking";
  case storage::lease_stage::compiling: return "compiling";
  case storage::lease_stage::storing: return "storing";
  }
  return "busy"; // a stage of a later version
}

// "process 4711 (compiling, "
std::string holder_text(const state_type::lease_record& record) {
  if (record.now == phase::away) return "another host (";
  if (!record.watch || !record.watch->last) return "another process (";
  const auto& last = *record.watch->last;
  return "process " + std::to_string(last.process) + " (" + std::string(stage_text(last.stage)) +
         ", ";
}

// Whether the waiters wait for what another caller makes, in this process or elsewhere. Otherwise
// the shard is about to answer them.
bool waits_for_others(const state_type::lease_record& record) {
  switch (record.now) {
  case phase::elsewhere:
  case phase::away:
  case phase::held: return true;
  case phase::looking:
  case phase::asking: return record.contended;
  case phase::rechecking:
  case phase::fulfilling: return false;
  }
  return false;
}

void end_waits_of(self_pointer self, const cache_key& key, state_type::lease_record& record) {
  const bool all = std::exchange(record.is_bypassed, true);
  while (!record.waiters.empty()) {
    auto first = std::move(record.waiters.front());
    record.waiters.pop_front();
    if (grant_spare(self, key, first) && !all) return;
  }
}

} // namespace

void begin_patience(self_pointer self, state_type::lease_record& record) {
  record.patience_ends = self->clock().now() + self->state.config.patience;
  record.is_bypassed = false;
  look_again_at(self, record.patience_ends);
}

void note_wait(self_pointer self, state_type::lease_record& record) {
  constexpr std::chrono::seconds first{2}, between{10};
  const auto& waits = self->state.config.waits;
  if (!waits) return;
  const auto now = self->clock().now();
  if (record.waits_since == state_type::time_point{}) {
    record.waits_since = now;
    record.next_notice = now + first;
  }
  if (now < record.next_notice) return;
  record.next_notice = now + between;
  const auto waited = std::chrono::duration_cast<std::chrono::seconds>(now - record.waits_since);
  waits("waiting for " + holder_text(record) + std::to_string(waited.count()) + " s)");
}

void end_waits(self_pointer self) {
  constexpr std::chrono::milliseconds soon{100};
  auto& state = self->state;
  const auto now = self->clock().now();
  state.patience_is_due = false;
  auto next = state_type::time_point::max();
  for (auto& [key, record] : state.leases) {
    if (record.patience_ends <= now) {
      const bool waits = waits_for_others(record);
      record.patience_ends = now + (waits ? state.config.patience : soon);
      if (waits) end_waits_of(self, key, record);
    }
    if (!record.waiters.empty()) next = std::min(next, record.patience_ends);
  }
  if (next != state_type::time_point::max()) look_again_at(self, next);
}

} // namespace hearth::actors::shard
