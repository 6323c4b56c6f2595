#include "runtime/cli/io/remote_report.hpp"

#include "runtime/engine/remote_tier_parts.hpp"
#include "runtime/net/remote_endpoint.hpp"
#include "storage/remote/commands.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <future>
#include <memory>

namespace hearth::cli {
namespace {

using nlohmann::json;

json json_of(const remote_cache_counts& counts) {
  return {{"cache", counts.cache},     {"version", counts.version}, {"hits", counts.hits},
          {"misses", counts.misses},   {"puts", counts.puts},       {"existed", counts.existed},
          {"skipped", counts.skipped}, {"lost", counts.lost},       {"failures", counts.failures}};
}

} // namespace

json json_of(const remote_tier_stats& stats) {
  auto caches = json::array();
  for (const auto& one : stats.caches)
    caches.push_back(json_of(one));
  auto each = json::array();
  for (const auto& one : stats.each)
    each.push_back(json_of(one));
  return {{"url", stats.name},
          {"state", stats.state},
          {"writes", stats.writes},
          {"problem", stats.problem},
          {"openings", stats.openings},
          {"waiting", stats.waiting},
          {"dropped", stats.dropped},
          {"unheard", stats.unheard},
          {"too_large", stats.too_large},
          {"leases",
           {{"granted", stats.leases_granted},
            {"elsewhere", stats.leases_elsewhere},
            {"unavailable", stats.leases_unavailable},
            {"lost", stats.leases_lost}}},
          {"caches", std::move(caches)},
          {"remotes", std::move(each)}};
}

remote_answer ask_remote(const remote_config& settings) {
  constexpr std::chrono::milliseconds patience{2000};
  auto tier = engine::make_remote_tier(settings, [](log_level, std::string_view) {});
  if (!tier) {
    const auto endpoint = net::parse_remote_url(settings.url);
    return {endpoint ? net::describe(*endpoint) : "", "open", tier.error().text(), 0};
  }
  const auto answer = std::make_shared<std::promise<actors::remote_reply>>();
  auto waiting = answer->get_future();
  const auto start = std::chrono::steady_clock::now();
  tier->server->send(actors::remote_client::lane::reads, storage::ping_command(), patience,
                     [answer](actors::remote_reply reply) { answer->set_value(std::move(reply)); });
  const auto reply = waiting.get();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  tier->server->close();
  const bool is_well = reply.failure == actors::remote_failure::none;
  const auto why = std::string(to_string(reply.failure)) + ": " + reply.problem;
  return {tier->name, is_well ? "closed" : "open", is_well ? "" : why, took.count()};
}

} // namespace hearth::cli
