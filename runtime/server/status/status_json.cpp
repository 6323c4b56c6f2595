#include "runtime/server/status/status_json.hpp"

#include "runtime/server/status/latency_quantile.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <numeric>
#include <set>
#include <string_view>

namespace hearth::server {
namespace {

using nlohmann::json;
using space_list = decltype(server_counters{}.spaces());
using named_space = space_list::value_type;

template <class T>
json number_or_null(const std::optional<T>& number) {
  return number ? json(*number) : json(nullptr);
}

double seconds_of(std::chrono::duration<double> time) { return time.count(); }

json memory_json(const runtime_stats& stats) {
  return {{"entries", stats.entries},           {"used_bytes", stats.bytes_used},
          {"budget_bytes", stats.budget_bytes}, {"evicted", stats.evicted},
          {"unpersisted", stats.unpersisted},   {"hits", stats.memory.hits},
          {"misses", stats.memory.misses}};
}

json disk_json(const runtime_stats& stats, const std::optional<storage::store_stats>& disk) {
  if (!disk) return nullptr;
  return {{"entries", disk->entries},       {"live_bytes", disk->live_bytes},
          {"used_bytes", disk->disk_bytes}, {"budget_bytes", disk->budget_bytes},
          {"evicted", disk->evicted},       {"unserved", disk->corrupt + disk->unreadable},
          {"failed_writes", disk->failed},  {"hits", stats.disk.hits},
          {"misses", stats.disk.misses}};
}

std::uint64_t sum_over_caches(const remote_tier_stats& remote,
                              std::uint64_t remote_cache_counts::*count) {
  return std::accumulate(remote.caches.begin(), remote.caches.end(), std::uint64_t{0},
                         [&](auto sum, const auto& one) { return sum + one.*count; });
}

std::uint64_t remote_failures(const remote_tier_stats& remote) {
  std::uint64_t sum = 0;
  for (const auto& one : remote.caches)
    for (const auto& [reason, count] : one.failures)
      sum += count;
  return sum;
}

json remote_json(const std::optional<remote_tier_stats>& remote, const std::string& name) {
  if (!remote) return nullptr;
  return {{"name", name},
          {"lookups_breaker", remote->state},
          {"writes_breaker", remote->writes},
          {"problem", remote->problem},
          {"openings", remote->openings},
          {"hits", sum_over_caches(*remote, &remote_cache_counts::hits)},
          {"misses", sum_over_caches(*remote, &remote_cache_counts::misses)},
          {"skipped", sum_over_caches(*remote, &remote_cache_counts::skipped)},
          {"stored", sum_over_caches(*remote, &remote_cache_counts::puts)},
          {"lost_writes", sum_over_caches(*remote, &remote_cache_counts::lost)},
          {"failures", remote_failures(*remote)},
          {"queued_writes", remote->waiting + remote->in_flight},
          {"queued_bytes", remote->bytes},
          {"unsent_writes", remote->dropped + remote->too_large},
          {"leases_held", remote->leases_held}};
}

json latency_json(const latency_buckets& buckets) {
  return {{"buckets", buckets},
          {"p50_s", number_or_null(latency_quantile_s(buckets, 0.5))},
          {"p99_s", number_or_null(latency_quantile_s(buckets, 0.99))}};
}

// The latencies of some kinds of requests, of all protocols.
json latency_of_kinds(const server_counters& from, std::initializer_list<request_kind> kinds) {
  latency_buckets sum{};
  for (const auto& of_protocol : from.latency)
    for (const auto kind : kinds)
      add_buckets(sum, read_buckets(of_protocol[static_cast<std::size_t>(kind)]));
  return latency_json(sum);
}

json latencies_json(const server_counters& from) {
  return {{"bounds_s", latency_bounds_s},
          {"lookups", latency_of_kinds(from, {request_kind::get, request_kind::exists})},
          {"writes", latency_of_kinds(from, {request_kind::put, request_kind::erase})}};
}

json protocol_json(const server_counters& from, std::size_t by) {
  latency_buckets sum{};
  json outcomes = json::object();
  std::uint64_t total = 0;
  for (std::size_t outcome = 0; outcome < request_outcome_count; ++outcome) {
    std::uint64_t count = 0;
    for (std::size_t kind = 0; kind < request_kind_count; ++kind)
      count += from.requests[by][kind][outcome];
    outcomes[std::string(to_string(static_cast<request_outcome>(outcome)))] = count;
    total += count;
  }
  for (const auto& of_kind : from.latency[by])
    add_buckets(sum, read_buckets(of_kind));
  return {{"protocol", to_string(static_cast<protocol>(by))},
          {"total", total},
          {"outcomes", outcomes},
          {"open_connections", from.connections[by].load()},
          {"connections", from.connections_total[by].load()},
          {"latency", latency_json(sum)}};
}

json protocols_json(const server_counters& from) {
  auto rows = json::array();
  for (std::size_t by = 0; by < protocol_count; ++by)
    rows.push_back(protocol_json(from, by));
  return rows;
}

json held_json(const server_counters& from) {
  return {{"waiting", from.held_now.load()},
          {"total", from.held_total.load()},
          {"hits", from.held_hits.load()},
          {"deadlines", from.held_deadlines.load()},
          {"refused", from.held_refused.load()},
          {"holders", from.holders_now.load()},
          {"holders_ended", from.holders_ended.load()}};
}

json leases_json(const runtime_stats& stats) {
  return {{"held", stats.leases_held},
          {"waiting", stats.leases_waiting},
          {"granted", stats.leases_granted},
          {"passed_over", stats.silent_holders + stats.waits_ended}};
}

json connections_json(const server_counters& from, const status_facts& facts) {
  std::uint64_t open = 0;
  for (const auto& of_protocol : from.connections)
    open += of_protocol;
  return {{"open", open},
          {"limit", facts.max_connections == 0 ? json(nullptr) : json(facts.max_connections)},
          {"refused", from.connections_refused.load()},
          {"protocol_errors", from.protocol_errors.load()},
          {"receiving_bytes", from.receiving_bytes.load()},
          {"credentials_wrong", from.credentials_wrong.load()}};
}

std::uint64_t lookups_of(const named_space& one) { return one.second->hits + one.second->misses; }
std::uint64_t stored_bytes_of(const named_space& one) { return one.second->bytes_in; }

// Adds the names of the namespaces with the largest `figure`.
void add_largest(std::set<std::string>& names, space_list spaces,
                 std::uint64_t (*figure)(const named_space&)) {
  const auto shown = std::min(spaces.size(), max_shown_namespaces);
  const auto end = std::next(spaces.begin(), static_cast<std::ptrdiff_t>(shown));
  std::partial_sort(spaces.begin(), end, spaces.end(),
                    [&](const auto& a, const auto& b) { return figure(a) > figure(b); });
  std::transform(spaces.begin(), end, std::inserter(names, names.end()),
                 [](const auto& one) { return one.first; });
}

json namespace_json(const named_space& one) {
  const auto& counts = *one.second;
  return {{"name", one.first},
          {"hits", counts.hits.load()},
          {"misses", counts.misses.load()},
          {"writes", counts.writes.load()},
          {"refused", counts.refused.load()},
          {"bytes_in", counts.bytes_in.load()},
          {"bytes_out", counts.bytes_out.load()}};
}

json namespaces_json(const space_list& spaces) {
  std::set<std::string> names;
  add_largest(names, spaces, lookups_of);
  add_largest(names, spaces, stored_bytes_of);
  auto shown = json::array();
  for (const auto& one : spaces)
    if (names.contains(one.first)) shown.push_back(namespace_json(one));
  return {{"count", spaces.size()}, {"shown", shown}};
}

json time_saved_json(const server_counters& from) {
  if (from.timed_hits == 0) return nullptr;
  return seconds_of(std::chrono::nanoseconds(from.saved_ns.load()));
}

// The counts of all namespaces together.
json totals_json(const space_list& spaces) {
  std::uint64_t hits = 0, misses = 0, writes = 0, bytes_in = 0, bytes_out = 0;
  for (const auto& [name, counts] : spaces) {
    hits += counts->hits;
    misses += counts->misses;
    writes += counts->writes;
    bytes_in += counts->bytes_in;
    bytes_out += counts->bytes_out;
  }
  return {{"hits", hits},
          {"misses", misses},
          {"writes", writes},
          {"bytes_in", bytes_in},
          {"bytes_out", bytes_out}};
}

} // namespace

std::string status_json(const server_counters& counters, const runtime_stats& stats,
                        const status_facts& facts) {
  const auto spaces = counters.spaces();
  const json all{{"version", facts.version},
                 {"uptime_s", seconds_of(facts.uptime)},
                 {"state", facts.is_draining ? "draining" : "serving"},
                 {"listeners", facts.listeners},
                 {"tiers",
                  {{"memory", memory_json(stats)},
                   {"disk", disk_json(stats, facts.disk)},
                   {"upstream", remote_json(stats.remote, facts.upstream)}}},
                 {"totals", totals_json(spaces)},
                 {"protocols", protocols_json(counters)},
                 {"latency", latencies_json(counters)},
                 {"held", held_json(counters)},
                 {"leases", leases_json(stats)},
                 {"connections", connections_json(counters, facts)},
                 {"namespaces", namespaces_json(spaces)},
                 {"time_saved_s", time_saved_json(counters)},
                 {"timed_hits", counters.timed_hits.load()}};
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace hearth::server
