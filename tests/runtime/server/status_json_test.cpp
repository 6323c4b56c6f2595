// The JSON of the status page: what is known is in it, what is not known is null.
#include "runtime/server/status/status_json.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <string>

namespace status_json_test {

using namespace hearth;
using namespace hearth::server;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

json status_of(const server_counters& counters, const runtime_stats& stats = {},
               const status_facts& facts = {}) {
  return json::parse(status_json(counters, stats, facts));
}

void note(server_counters& counters, const std::string& name_space, const noted_request& one) {
  counters.note(one, counters.space(name_space));
}

remote_tier_stats broken_remote() {
  remote_tier_stats remote;
  remote.state = "open";
  remote.writes = "closed";
  remote.problem = "no answer within 1 s";
  remote.waiting = 3;
  remote.in_flight = 2;
  remote_cache_counts one, other;
  one.hits = 5;
  one.misses = 1;
  one.failures = {{"timeout", 2}};
  other.hits = 7;
  other.misses = 2;
  other.failures = {{"forged", 1}};
  remote.caches = {one, other};
  return remote;
}

} // namespace

TEST_CASE("a server that has done nothing knows its counts, and no tier, quantile or time saved") {
  const auto status = status_of(server_counters{});
  CHECK(status["state"] == "serving");
  CHECK(status["tiers"]["memory"]["entries"] == 0);
  CHECK(status["tiers"]["disk"].is_null());
  CHECK(status["tiers"]["upstream"].is_null());
  CHECK(status["latency"]["lookups"]["p50_s"].is_null());
  CHECK(status["latency"]["lookups"]["p99_s"].is_null());
  CHECK(status["protocols"].size() == protocol_count);
  CHECK(status["protocols"][0]["latency"]["p99_s"].is_null());
  CHECK(status["connections"]["limit"].is_null());
  CHECK(status["namespaces"]["count"] == 0);
  CHECK(status["namespaces"]["shown"].is_array());
  CHECK(status["time_saved_s"].is_null());
  CHECK(status["timed_hits"] == 0);
  CHECK(status["totals"]["hits"] == 0);
}

TEST_CASE("the time saved is told with the hits of which it is known") {
  server_counters counters;
  counters.timed_hits = 3;
  counters.saved_ns = 90'500'000'000;
  const auto status = status_of(counters);
  CHECK(status["time_saved_s"] == 90.5);
  CHECK(status["timed_hits"] == 3);
}

TEST_CASE("the facts are shown as they are told") {
  status_facts facts;
  facts.version = "1.2.3";
  facts.uptime = 90'500ms;
  facts.is_draining = true;
  facts.listeners = {"resp 127.0.0.1:6379", "http unix:/run/\"x\""};
  facts.max_connections = 10'000;
  const auto status = status_of({}, {}, facts);
  CHECK(status["version"] == "1.2.3");
  CHECK(status["uptime_s"] == 90.5);
  CHECK(status["state"] == "draining");
  CHECK(status["listeners"][1] == "http unix:/run/\"x\"");
  CHECK(status["connections"]["limit"] == 10'000);
}

TEST_CASE("memory and disk have their use, budget and counts") {
  runtime_stats stats;
  stats.entries = 10;
  stats.bytes_used = 1'000;
  stats.budget_bytes = 4'000;
  stats.memory = {.hits = 8, .misses = 4};
  stats.disk = {.hits = 3, .misses = 1};
  status_facts facts;
  auto& disk = facts.disk.emplace();
  disk.entries = 90;
  disk.live_bytes = 700;
  disk.disk_bytes = 900;
  disk.budget_bytes = 5'000;
  disk.evicted = 6;
  const auto tiers = status_of({}, stats, facts)["tiers"];
  CHECK(tiers["memory"]["entries"] == 10);
  CHECK(tiers["memory"]["used_bytes"] == 1'000);
  CHECK(tiers["memory"]["budget_bytes"] == 4'000);
  CHECK(tiers["memory"]["hits"] == 8);
  CHECK(tiers["disk"]["entries"] == 90);
  CHECK(tiers["disk"]["live_bytes"] == 700);
  CHECK(tiers["disk"]["used_bytes"] == 900);
  CHECK(tiers["disk"]["budget_bytes"] == 5'000);
  CHECK(tiers["disk"]["evicted"] == 6);
  CHECK(tiers["disk"]["misses"] == 1);
}

TEST_CASE("the upstream has its name, its breakers, its problem and the sums of its caches") {
  runtime_stats stats;
  stats.remote = broken_remote();
  status_facts facts;
  facts.upstream = "cache.example:6380";
  const auto upstream = status_of({}, stats, facts)["tiers"]["upstream"];
  CHECK(upstream["name"] == "cache.example:6380");
  CHECK(upstream["lookups_breaker"] == "open");
  CHECK(upstream["writes_breaker"] == "closed");
  CHECK(upstream["problem"] == "no answer within 1 s");
  CHECK(upstream["hits"] == 12);
  CHECK(upstream["misses"] == 3);
  CHECK(upstream["failures"] == 3);
  CHECK(upstream["queued_writes"] == 5);
}

TEST_CASE("requests are told by protocol and outcome, latencies by what was asked") {
  server_counters counters;
  note(counters, "", {.kind = request_kind::get, .outcome = request_outcome::hit, .took = 30us});
  note(counters, "",
       {.by = protocol::http,
        .kind = request_kind::put,
        .outcome = request_outcome::refused,
        .took = 3ms});
  const auto status = status_of(counters);
  CHECK(status["protocols"][0]["total"] == 1);
  CHECK(status["protocols"][0]["outcomes"]["hit"] == 1);
  CHECK(status["protocols"][1]["outcomes"]["refused"] == 1);
  CHECK(status["protocols"][1]["outcomes"]["hit"] == 0);
  const auto lookups = status["latency"]["lookups"];
  CHECK(lookups["buckets"].size() == status["latency"]["bounds_s"].size() + 1);
  CHECK(lookups["buckets"][3] == 1);
  CHECK(lookups["p50_s"] == doctest::Approx(35e-6));
  CHECK(status["latency"]["writes"]["p99_s"] == doctest::Approx(4.96e-3));
}

TEST_CASE("held misses, leases and connections are told") {
  server_counters counters;
  counters.held_now = 2;
  counters.holders_now = 1;
  counters.connections[0] = 3;
  counters.connections[1] = 4;
  counters.connections_refused = 5;
  runtime_stats stats;
  stats.leases_held = 6;
  stats.leases_waiting = 7;
  const auto status = status_of(counters, stats);
  CHECK(status["held"]["waiting"] == 2);
  CHECK(status["held"]["holders"] == 1);
  CHECK(status["leases"]["held"] == 6);
  CHECK(status["leases"]["waiting"] == 7);
  CHECK(status["connections"]["open"] == 7);
  CHECK(status["connections"]["refused"] == 5);
}

TEST_CASE("the hottest and the largest namespaces are shown, the others are counted") {
  server_counters counters;
  for (int i = 0; i < 60; ++i) {
    auto& space = counters.space("team-" + std::to_string(i));
    space.hits = static_cast<std::uint64_t>(i);
    space.bytes_in = static_cast<std::uint64_t>(100 - i);
  }
  const auto namespaces = status_of(counters)["namespaces"];
  CHECK(namespaces["count"] == 60);
  CHECK(namespaces["shown"].size() == 2 * max_shown_namespaces);
  const auto is_shown = [&](const std::string& name) {
    for (const auto& one : namespaces["shown"])
      if (one["name"] == name) return true;
    return false;
  };
  CHECK(is_shown("team-59"));
  CHECK(is_shown("team-0"));
  CHECK_FALSE(is_shown("team-30"));
}

TEST_CASE("the totals are those of all namespaces, shown or not") {
  server_counters counters;
  for (int i = 0; i < 60; ++i)
    note(counters, std::to_string(i),
         {.kind = request_kind::get, .outcome = request_outcome::hit, .bytes_out = 10});
  const auto totals = status_of(counters)["totals"];
  CHECK(totals["hits"] == 60);
  CHECK(totals["bytes_out"] == 600);
}

TEST_CASE("a name with quotes, controls or invalid UTF-8 leaves the JSON valid") {
  server_counters counters;
  counters.space("a\"b\\c\n</script>").hits = 2;
  counters.space("\xff\xfe").hits = 1;
  const auto shown = status_of(counters)["namespaces"]["shown"];
  REQUIRE(shown.size() == 2);
  CHECK(shown[0]["name"] == "a\"b\\c\n</script>");
  CHECK(shown[1]["name"] == "\xEF\xBF\xBD\xEF\xBF\xBD");
}

} // namespace status_json_test
