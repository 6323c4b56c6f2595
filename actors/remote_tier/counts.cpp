#include "actors/remote_tier/counts.hpp"

#include "actors/remote_tier/service.hpp"

#include <string>

namespace hearth::actors::remote {

remote_cache_counts& counts_of(state_type& state, const cache_key& key) {
  const auto [at, is_new] = state.caches.try_emplace(key.cache->number);
  if (is_new) {
    at->second.cache = key.cache->id.name();
    at->second.version = key.cache->id.version();
  }
  return at->second;
}

void count_failure(state_type& state, const cache_key& key, std::string_view reason) {
  ++counts_of(state, key).failures[std::string(reason)];
}

remote_tier_stats stats_of(const state_type& state) {
  auto result = state.counters;
  result.name = state.config.name;
  result.state = to_string(state.service.now());
  result.writes = to_string(state.writing.now());
  result.openings = state.service.openings();
  result.waiting = state.writes.waiting();
  result.in_flight = state.writes.in_flight();
  result.bytes = state.writes.bytes();
  result.leases_held = state.leases.size();
  result.unheard = state.unheard.open();
  for (const auto& [number, counts] : state.caches)
    result.caches.push_back(counts);
  return result;
}

} // namespace hearth::actors::remote
