#include "actors/memory_shard/process_lease.hpp"

#include <utility>

namespace hearth::actors::shard {
namespace {

constexpr unsigned max_ranks = 4;

std::uint64_t lease_hash(const cache_key& key, unsigned rank) {
  return key.disk_hash ^ (rank * std::uint64_t{0x9E3779B97F4A7C15});
}

void beat_later(self_pointer self) {
  auto& state = self->state;
  if (!std::exchange(state.beat_is_due, true))
    self->delayed_send(self, state.config.lease_beat, verb::beat_v);
}

storage::lease_stage stage_of(const state_type::lease_record& record) {
  switch (record.now) {
  case phase::held: return storage::lease_stage::compiling;
  case phase::fulfilling: return storage::lease_stage::storing;
  default: return storage::lease_stage::checking;
  }
}

// Whether the process that holds this lease has shown no sign of life for a while. A process that
// has not looked for some time, because it was stopped, begins anew: meanwhile another holder may
// have come, which has shown no sign yet.
bool is_silent(self_pointer self, const cache_key& key, state_type::lease_record& record) {
  const auto& config = self->state.config;
  const auto now = self->clock().now();
  auto last = config.leases->holder(lease_hash(key, record.rank));
  if (!last) { // this disk fails: that says nothing of the holder
    record.watch.reset();
    return false;
  }
  constexpr int looks = 3; // at least so many in the time of a silence
  const bool goes_on = record.watch && record.watch->last == *last &&
                       now - record.watch->looked <= config.lease_silence / looks;
  if (!goes_on) record.watch = state_type::lease_watch{std::move(*last), now, now};
  record.watch->looked = now;
  return now - record.watch->since >= config.lease_silence;
}

void log_failure(state_type& state, const error& why) {
  if (std::exchange(state.lease_failure_was_logged, true)) return;
  state.config.log(log_level::warning,
                   "leases across processes do not work, compiles may be done twice: " +
                       why.text());
}

void log_silence(state_type& state) {
  state.config.log(log_level::info, "another process holds a lease and shows no sign of life: its "
                                    "compile is done here too");
}

} // namespace

bool take_process_lease(self_pointer self, const cache_key& key, state_type::lease_record& record) {
  auto& state = self->state;
  if (record.process_lease || !state.config.leases || !key.cache->disk) return true;
  for (; record.rank < max_ranks; ++record.rank, record.watch.reset()) {
    const auto acquired = state.config.leases->try_acquire(lease_hash(key, record.rank));
    if (!acquired) {
      log_failure(state, acquired.error());
      return true;
    }
    if (*acquired) {
      record.process_lease = true;
      beat_later(self);
      return true;
    }
    if (!is_silent(self, key, record)) return false;
    log_silence(state);
    ++state.counters.silent_holders;
  }
  return true;
}

void release_process_lease(state_type& state, const cache_key& key,
                           state_type::lease_record& record) {
  if (!std::exchange(record.process_lease, false)) return;
  state.config.leases->release(lease_hash(key, record.rank));
}

void beat(self_pointer self) {
  auto& state = self->state;
  state.beat_is_due = false;
  for (const auto& [key, record] : state.leases) {
    if (!record.process_lease) continue;
    state.config.leases->beat(lease_hash(key, record.rank), stage_of(record));
    beat_later(self);
  }
}

} // namespace hearth::actors::shard
