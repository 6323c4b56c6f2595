// The server's page for Prometheus: every line of it is read as a strict parser reads it.
#include "runtime/server/status/metrics.hpp"

#include <doctest/doctest.h>
#include <limits>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace metrics_test {

using namespace hearth;
using namespace hearth::server;
using namespace std::chrono_literals;

namespace {

struct family {
  std::string name, type;
  std::vector<std::pair<std::string, std::string>> samples; ///< name with labels, and number
};

// The family that a sample belongs to: a histogram has samples of three names.
std::string family_name(const std::string& sample_name, const family& current) {
  if (current.type != "histogram") return sample_name;
  for (const std::string suffix : {"_bucket", "_sum", "_count"})
    if (sample_name.ends_with(suffix))
      return sample_name.substr(0, sample_name.size() - suffix.size());
  return sample_name;
}

// Reads a page and checks its grammar: HELP, then TYPE, then the samples of the same family, each
// once.
std::vector<family> families_of(const std::string& page) {
  static const std::regex help(R"(# HELP ([a-z][a-z_]*) (\S.*\.))");
  static const std::regex type(R"(# TYPE ([a-z][a-z_]*) (counter|gauge|histogram))");
  static const std::regex sample(
      R"re(([a-z][a-z_]*)(\{[a-z]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z]+="(?:[^"\\\n]|\\["\\n])*")*\})? ([0-9][0-9.e+-]*))re");
  std::vector<family> all;
  std::set<std::string> names, series;
  std::smatch parts;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    if (std::regex_match(line, parts, help)) {
      CHECK(names.insert(parts[1]).second);
      all.push_back({parts[1], "", {}});
    } else if (std::regex_match(line, parts, type)) {
      REQUIRE_FALSE(all.empty());
      CHECK(all.back().name == parts[1]);
      CHECK(all.back().type.empty());
      all.back().type = parts[2];
    } else {
      REQUIRE(std::regex_match(line, parts, sample));
      REQUIRE_FALSE(all.empty());
      CHECK_FALSE(all.back().type.empty());
      CHECK(family_name(parts[1], all.back()) == all.back().name);
      CHECK(series.insert(parts[1].str() + parts[2].str()).second);
      all.back().samples.emplace_back(parts[1].str() + parts[2].str(), parts[3]);
    }
  }
  return all;
}

// The number of a sample, as text; nothing if there is no such sample.
std::optional<std::string> number_of(const std::string& page, const std::string& series) {
  for (const auto& one : families_of(page))
    for (const auto& [name, number] : one.samples)
      if (name == series) return number;
  return std::nullopt;
}

void note(server_counters& counters, const std::string& name_space, const noted_request& one) {
  counters.note(one, counters.space(name_space));
}

} // namespace

TEST_CASE("each metric has a help, a type and the prefix, and a counter ends with _total") {
  server_counters counters;
  note(counters, "", {.by = protocol::crsh, .kind = request_kind::get, .took = 3ms});
  const auto page = server_metrics(counters);
  CHECK(page.ends_with("\n"));
  const auto all = families_of(page);
  CHECK(all.size() == 21);
  for (const auto& one : all) {
    CAPTURE(one.name);
    CHECK(one.name.starts_with("hearth_serve_"));
    CHECK(one.name.ends_with("_total") == (one.type == "counter"));
    CHECK_FALSE(one.samples.empty());
  }
}

TEST_CASE("a server without a request has a page that can be read") {
  const auto page = server_metrics(server_counters{});
  for (const auto& one : families_of(page))
    for (const auto& [name, number] : one.samples) {
      CAPTURE(name);
      CHECK(number == "0");
    }
}

TEST_CASE("the time saved is in seconds") {
  server_counters counters;
  note(counters, "",
       {.kind = request_kind::get,
        .outcome = request_outcome::hit,
        .took = 10ms,
        .made_in = 1510ms});
  const auto page = server_metrics(counters);
  CHECK(number_of(page, "hearth_serve_saved_seconds_total") == "1.5");
  CHECK(number_of(page, "hearth_serve_timed_hits_total") == "1");
}

TEST_CASE("requests have a sample for each protocol, kind and outcome") {
  server_counters counters;
  note(counters, "", {.kind = request_kind::get, .outcome = request_outcome::hit});
  note(counters, "", {.kind = request_kind::get, .outcome = request_outcome::hit});
  note(counters, "", {.by = protocol::http, .kind = request_kind::put});
  const auto page = server_metrics(counters);
  const std::string name = "hearth_serve_requests_total";
  CHECK(number_of(page, name + R"({protocol="resp",kind="get",outcome="hit"})") == "2");
  CHECK(number_of(page, name + R"({protocol="http",kind="put",outcome="done"})") == "1");
  CHECK(number_of(page, name + R"({protocol="crsh",kind="other",outcome="failed"})") == "0");
}

TEST_CASE("the buckets of a histogram are cumulative, and the last one is the count") {
  server_counters counters;
  for (const auto took : {4us, 30us, 40us, 3'000us, 11'000'000us})
    note(counters, "", {.kind = request_kind::get, .took = took});
  const auto page = server_metrics(counters);
  const std::string name = "hearth_serve_request_seconds";
  const auto bucket = [&](const std::string& bound) {
    return number_of(page, name + R"(_bucket{protocol="resp",kind="get",le=")" + bound + "\"}");
  };
  CHECK(bucket("5e-06") == "1");
  CHECK(bucket("1e-05") == "1");
  CHECK(bucket("5e-05") == "3");
  CHECK(bucket("0.005") == "4");
  CHECK(bucket("10") == "4");
  CHECK(bucket("+Inf") == "5");
  CHECK(number_of(page, name + R"(_count{protocol="resp",kind="get"})") == "5");
  CHECK(number_of(page, name + R"(_sum{protocol="resp",kind="get"})") == "11.003074");
}

TEST_CASE("the buckets of every histogram are in order, with a last one without a bound") {
  server_counters counters;
  note(counters, "", {.by = protocol::http, .kind = request_kind::list, .took = 200ms});
  const std::regex bucket(R"re(hearth_serve_request_seconds_bucket\{(.*),le="([^"]*)"\})re");
  std::map<std::string, std::vector<std::pair<double, double>>> histograms;
  for (const auto& one : families_of(server_metrics(counters)))
    for (const auto& [name, number] : one.samples) {
      std::smatch parts;
      if (std::regex_match(name, parts, bucket))
        histograms[parts[1]].emplace_back(std::stod(parts[2]), std::stod(number));
    }
  CHECK(histograms.size() == protocol_count * request_kind_count);
  for (const auto& [labels, buckets] : histograms) {
    CAPTURE(labels);
    REQUIRE(buckets.size() == latency_bounds_s.size() + 1);
    for (std::size_t i = 1; i < buckets.size(); ++i) {
      CHECK(buckets[i - 1].first < buckets[i].first);
      CHECK(buckets[i - 1].second <= buckets[i].second);
    }
    CHECK(buckets.back().first == std::numeric_limits<double>::infinity());
  }
}

TEST_CASE("a namespace with special characters is one label") {
  server_counters counters;
  note(counters, "a\"b\\c\nd", {.kind = request_kind::get, .outcome = request_outcome::miss});
  note(counters, "", {.kind = request_kind::put, .outcome = request_outcome::done, .bytes_in = 5});
  const auto page = server_metrics(counters);
  CHECK(number_of(page, "hearth_serve_namespace_lookups_total"
                        R"({namespace="a\"b\\c\nd",outcome="miss"})") == "1");
  CHECK(number_of(page, R"(hearth_serve_namespace_writes_total{namespace=""})") == "1");
  CHECK(
      number_of(page, R"(hearth_serve_namespace_value_bytes_total{namespace="",direction="in"})") ==
      "5");
}

TEST_CASE("connections, held misses and credentials are on the page") {
  server_counters counters;
  counters.connections[1] = 3;
  counters.connections_total[1] = 40;
  counters.connections_refused = 1;
  counters.protocol_errors = 2;
  counters.bytes_out = 4'000'000'000'000;
  counters.held_now = 5;
  counters.held_hits = 6;
  counters.held_deadlines = 7;
  counters.holders_now = 8;
  counters.credentials_wrong = 9;
  const auto page = server_metrics(counters);
  const auto number = [&](const std::string& series) {
    return number_of(page, "hearth_serve_" + series);
  };
  CHECK(number(R"(connections_open{protocol="http"})") == "3");
  CHECK(number(R"(connections_total{protocol="http"})") == "40");
  CHECK(number("connections_refused_total") == "1");
  CHECK(number("protocol_errors_total") == "2");
  CHECK(number(R"(socket_bytes_total{direction="out"})") == "4000000000000");
  CHECK(number("held_waits") == "5");
  CHECK(number(R"(held_ends_total{end="hit"})") == "6");
  CHECK(number(R"(held_ends_total{end="deadline"})") == "7");
  CHECK(number("holders") == "8");
  CHECK(number(R"(credentials_total{outcome="wrong"})") == "9");
}

} // namespace metrics_test
