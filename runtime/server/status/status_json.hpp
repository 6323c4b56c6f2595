// What the status page asks for, as JSON. Pure functions, any thread.
#pragma once

#include "runtime/api/runtime_stats.hpp"
#include "runtime/server/status/server_counters.hpp"
#include "storage/disk/store.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hearth::server {

/// What the page shows besides the counters. No path and no secret: every client that reaches the
/// HTTP listener may read it.
struct status_facts {
  std::string version;
  std::chrono::milliseconds uptime{0};
  bool is_draining = false;
  std::vector<std::string> listeners;       ///< for people: "resp 127.0.0.1:6379"
  std::string upstream;                     ///< for people: "cache.example:6380"; empty: none
  std::uint64_t max_connections = 0;        ///< 0: not told
  std::optional<storage::store_stats> disk; ///< empty: without a disk tier
};

/// The namespaces with the most lookups of which the page is told, and those with the most bytes
/// stored.
inline constexpr std::size_t max_shown_namespaces = 12;

/// One JSON object (docs/serve.md). What is not known is null: a tier that is missing, a quantile
/// without a request, the time saved before a hit whose value says how long it took to make. Counts
/// are those since the server started; times are in seconds. Invalid UTF-8 in names is replaced.
std::string status_json(const server_counters& counters, const runtime_stats& stats,
                        const status_facts& facts);

} // namespace hearth::server
