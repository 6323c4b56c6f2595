#include "actors/memory_shard/unpersisted.hpp"

#include "actors/memory_shard/held.hpp"
#include "actors/memory_shard/write.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace hearth::actors::shard {
namespace {

constexpr std::size_t max_unpersisted = 16'384; // for each shard
constexpr std::chrono::milliseconds first_interval{100};
constexpr std::chrono::milliseconds longest_interval{1000};

// Whether a retry may succeed. It cannot for a read-only disk or a value that is too large.
bool may_pass(const error& why) {
  switch (why.code()) {
  case errc::io:
  case errc::no_space:
  case errc::too_many_files:
  case errc::busy: return true;
  default: return false;
  }
}

void retry_later(self_pointer self) {
  auto& state = self->state;
  if (state.retry_is_due || state.is_retrying || state.unpersisted.empty()) return;
  state.retry_is_due = true;
  self->delayed_send(self, state.retry_interval, verb::persist_v);
}

bool is_in_memory(state_type& state, const cache_key& key, const artifact& value) {
  return find_in_memory(state, key).body() == value.body();
}

void add(state_type& state, const cache_key& key, const unpersisted_value& of) {
  const auto [at, is_new] = state.unpersisted.try_emplace(key, of);
  if (is_new)
    state.unpersisted_in_order.push_back(key);
  else
    at->second = of;
}

struct refused {
  cache_key key;
  unpersisted_value of;
};

// The next key to retry, if there is one. Skips keys that were forgotten.
std::optional<refused> take_next(state_type& state) {
  while (!state.unpersisted_in_order.empty()) {
    auto key = std::move(state.unpersisted_in_order.front());
    state.unpersisted_in_order.pop_front();
    const auto at = state.unpersisted.extract(key);
    if (!at.empty()) return refused{std::move(key), at.mapped()};
  }
  return std::nullopt;
}

// What the disk has instead of a put is older, unless the host has changed the entry since. An
// insert gives way to what the disk has, and to every change since it took its value: a sibling may
// have erased the entry, and the epoch that tells memory may not have moved yet.
void store_again(self_pointer self, const refused& one, const artifact& value,
                 const disk_insert_callback& next) {
  auto& state = self->state;
  if (one.of.put == 0) return copy_to_disk(self, one.key, value, one.of.last_change, next);
  self->request(disk_of(state, one.key), caf::infinite, verb::put_v, one.key, value, one.of.put)
      .then([next](const disk_insert_reply& reply) { next(reply); },
            [next](const caf::error& why) { next(fail(from_caf(why))); });
}

// The disk holds the entry now. If it holds another value than memory, memory drops its own.
void end_retry(self_pointer self, const cache_key& key, const artifact& value,
               const disk_insert_reply& reply) {
  auto& state = self->state;
  if (reply.outcome == insert_outcome::exists && is_in_memory(state, key, value))
    erase_in_memory(self, key);
  take_in_insert(self, key, value, reply, {}); // it is in memory, unless it was evicted
  state.is_retrying = false;
  state.retry_interval = first_interval;
  flush_unpersisted(self);
}

// Puts the key at the end of the queue if a retry may succeed.
void end_failed_retry(self_pointer self, const refused& one, const artifact& value,
                      const error& why) {
  auto& state = self->state;
  state.is_retrying = false;
  if (may_pass(why) && is_in_memory(state, one.key, value)) add(state, one.key, one.of);
  state.retry_interval = std::min(state.retry_interval * 2, longest_interval);
  retry_later(self);
}

} // namespace

void keep_unpersisted(self_pointer self, const cache_key& key, const artifact& value,
                      const error& why, std::uint64_t last_change,
                      const std::function<bool()>& may_keep) {
  self->state.config.store->note_unpersisted(disk_shard_of(self->state, key));
  if (!may_keep()) return;
  keep_in_memory(self, key, value);
  note_unpersisted(self, key, value, why, {0, last_change});
}

void note_unpersisted(self_pointer self, const cache_key& key, const artifact& value,
                      const error& why, const unpersisted_value& of) {
  auto& state = self->state;
  if (!may_pass(why) || !is_in_memory(state, key, value)) return;
  if (state.unpersisted_in_order.size() >= max_unpersisted)
    if (const auto oldest = take_next(state)) erase_in_memory(self, oldest->key);
  if (state.unpersisted.empty()) state.retry_interval = first_interval;
  add(state, key, of);
  retry_later(self);
}

void forget_unpersisted(state_type& state, const cache_key& key) {
  if (!state.unpersisted.empty()) state.unpersisted.erase(key);
}

void flush_unpersisted(self_pointer self) {
  auto& state = self->state;
  state.retry_is_due = false;
  while (!state.is_retrying) {
    const auto one = take_next(state);
    if (!one) return;
    const auto value = find_in_memory(state, one->key);
    if (!value) continue;     // evicted, or the view dropped its entries
    state.is_retrying = true; // until the answer
    store_again(self, *one, value,
                [self, one = *one, value](const expected<disk_insert_reply>& reply) {
                  if (reply)
                    end_retry(self, one.key, value, *reply);
                  else
                    end_failed_retry(self, one, value, reply.error());
                });
  }
}

} // namespace hearth::actors::shard
