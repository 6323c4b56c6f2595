// What a noted request changes, and quantiles of the latency histogram.
#include "runtime/server/status/latency_quantile.hpp"
#include "runtime/server/status/server_counters.hpp"

#include <chrono>
#include <cstddef>
#include <doctest/doctest.h>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

namespace server_counters_test {

using namespace hearth;
using namespace hearth::server;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t index_of(protocol one) { return static_cast<std::size_t>(one); }
constexpr std::size_t index_of(request_kind one) { return static_cast<std::size_t>(one); }
constexpr std::size_t index_of(request_outcome one) { return static_cast<std::size_t>(one); }

latency_buckets buckets_of(const server_counters& counters, protocol by, request_kind kind) {
  return read_buckets(counters.latency[index_of(by)][index_of(kind)]);
}

} // namespace

TEST_CASE("a request is counted by protocol, kind and outcome, with its latency and bytes") {
  server_counters counters;
  auto& space = counters.space("pull-requests");
  counters.note({.by = protocol::http,
                 .kind = request_kind::get,
                 .outcome = request_outcome::hit,
                 .bytes_in = 0,
                 .bytes_out = 700,
                 .took = 30us},
                space);
  CHECK(counters.requests[index_of(protocol::http)][index_of(request_kind::get)]
                         [index_of(request_outcome::hit)] == 1);
  CHECK(counters.requests[index_of(protocol::resp)][index_of(request_kind::get)]
                         [index_of(request_outcome::hit)] == 0);
  CHECK(buckets_of(counters, protocol::http, request_kind::get)[3] == 1);
  CHECK(counters.latency_sum_ns[index_of(protocol::http)][index_of(request_kind::get)] == 30'000);
  CHECK(space.hits == 1);
  CHECK(space.misses == 0);
  CHECK(space.bytes_out == 700);
}

TEST_CASE("a hit that sends a value has saved what it took to make, less its own time") {
  server_counters counters;
  auto& space = counters.space("");
  const auto note = [&](request_kind kind, request_outcome outcome, std::chrono::nanoseconds took,
                        std::chrono::nanoseconds made_in) {
    counters.note({.kind = kind, .outcome = outcome, .took = took, .made_in = made_in}, space);
  };
  note(request_kind::get, request_outcome::hit, 1ms, 0ns); // how long is not known
  note(request_kind::get, request_outcome::miss, 1ms, 5s);
  note(request_kind::exists, request_outcome::hit, 1ms, 5s);
  CHECK(counters.timed_hits == 0);
  CHECK(counters.saved_ns == 0);
  note(request_kind::get, request_outcome::hit, 200ms, 5s);
  CHECK(counters.timed_hits == 1);
  CHECK(counters.saved_ns == 4'800'000'000);
  note(request_kind::get, request_outcome::hit, 2s,
       1s); // it waited longer than it would have made it
  CHECK(counters.timed_hits == 2);
  CHECK(counters.saved_ns == 4'800'000'000);
}

TEST_CASE("an erase of a missing entry is no missed lookup, a refused write is no write") {
  server_counters counters;
  auto& space = counters.space("");
  counters.note({.kind = request_kind::erase, .outcome = request_outcome::miss}, space);
  counters.note({.kind = request_kind::put, .outcome = request_outcome::refused}, space);
  counters.note({.kind = request_kind::put, .outcome = request_outcome::failed}, space);
  counters.note({.kind = request_kind::other, .outcome = request_outcome::done}, space);
  CHECK(space.misses == 0);
  CHECK(space.writes == 0);
  CHECK(space.refused == 1);
  counters.note({.kind = request_kind::put, .outcome = request_outcome::done, .bytes_in = 9},
                space);
  counters.note({.kind = request_kind::erase, .outcome = request_outcome::done}, space);
  counters.note({.kind = request_kind::exists, .outcome = request_outcome::miss}, space);
  CHECK(space.writes == 2);
  CHECK(space.bytes_in == 9);
  CHECK(space.misses == 1);
}

TEST_CASE("a latency on a bound is in the bucket of that bound") {
  server_counters counters;
  auto& space = counters.space("");
  const auto note = [&](std::chrono::nanoseconds took) { counters.note({.took = took}, space); };
  note(-1ns); // a clock that went back
  note(0ns);
  note(5us);
  note(5'001ns);
  note(10s);
  note(10'001ms);
  const auto buckets = buckets_of(counters, protocol::resp, request_kind::other);
  CHECK(buckets[0] == 3);
  CHECK(buckets[1] == 1);
  CHECK(buckets[13] == 1);
  CHECK(buckets[14] == 1);
  CHECK(count_of(buckets) == 6);
}

TEST_CASE("a namespace has one object for its counts") {
  server_counters counters;
  auto& trusted = counters.space("");
  auto& other = counters.space("other");
  CHECK(&trusted != &other);
  CHECK(&counters.space("") == &trusted);
  CHECK(&counters.space("other") == &other);
  const auto all = counters.spaces();
  REQUIRE(all.size() == 2);
  CHECK(all[0].first.empty());
  CHECK(all[1].first == "other");
  CHECK(all[1].second.get() == &other);
}

TEST_CASE("threads lose no count") {
  server_counters counters;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      auto& space = counters.space("shared");
      for (int n = 0; n < 1'000; ++n)
        counters.note({.kind = request_kind::get, .outcome = request_outcome::hit, .bytes_out = 2},
                      space);
    });
  for (auto& thread : threads)
    thread.join();
  CHECK(counters.space("shared").hits == 4'000);
  CHECK(counters.space("shared").bytes_out == 8'000);
  CHECK(count_of(buckets_of(counters, protocol::resp, request_kind::get)) == 4'000);
}

TEST_CASE("each kind and outcome has a name of its own") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < request_kind_count; ++i)
    names.insert(to_string(static_cast<request_kind>(i)));
  CHECK(names.size() == request_kind_count);
  names.clear();
  for (std::size_t i = 0; i < request_outcome_count; ++i)
    names.insert(to_string(static_cast<request_outcome>(i)));
  CHECK(names.size() == request_outcome_count);
}

TEST_CASE("without a request no quantile is known") {
  CHECK_FALSE(latency_quantile_s({}, 0.5).has_value());
}

TEST_CASE("a quantile lies in its bucket, in proportion") {
  latency_buckets buckets{};
  buckets[3] = 100; // above 20 us, at most 50 us
  CHECK(*latency_quantile_s(buckets, 0.5) == doctest::Approx(35e-6));
  CHECK(*latency_quantile_s(buckets, 1) == doctest::Approx(50e-6));
  CHECK(*latency_quantile_s(buckets, 0) == doctest::Approx(20e-6));
  buckets[8] = 1; // above 1 ms, at most 5 ms
  CHECK(*latency_quantile_s(buckets, 0.5) < 50e-6);
  CHECK(*latency_quantile_s(buckets, 1) == doctest::Approx(5e-3));
}

TEST_CASE("above the highest bound, a quantile is that bound") {
  latency_buckets buckets{};
  buckets.back() = 7;
  CHECK(*latency_quantile_s(buckets, 0.5) == doctest::Approx(10));
}

TEST_CASE("buckets are added one by one") {
  latency_buckets one{}, other{};
  one[0] = 1;
  other[0] = 2;
  other.back() = 3;
  add_buckets(one, other);
  CHECK(one[0] == 3);
  CHECK(one.back() == 3);
}

} // namespace server_counters_test
