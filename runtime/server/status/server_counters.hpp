// What the server has done, for `/metrics` and the status page. Any thread; noting takes no lock.
#pragma once

#include "runtime/server/settings/server_settings.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::server {

enum class request_kind : std::uint8_t { get, exists, put, erase, list, other };
inline constexpr std::size_t request_kind_count = 6;
std::string_view to_string(request_kind kind) noexcept;

enum class request_outcome : std::uint8_t {
  hit,     ///< found
  miss,    ///< not found
  done,    ///< stored, dropped, or answered without an entry
  refused, ///< no right, or above a limit
  failed,
};
inline constexpr std::size_t request_outcome_count = 5;
std::string_view to_string(request_outcome outcome) noexcept;

/// Counts of one namespace.
struct space_counters {
  std::atomic<std::uint64_t> hits{0}, misses{0}, writes{0}, refused{0};
  std::atomic<std::uint64_t> bytes_in{0}, bytes_out{0};
};

/// Upper bounds of the latency histogram, in seconds; the last bucket has no bound.
inline constexpr std::array<double, 14> latency_bounds_s = {
    5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 5e-3, 2e-2, 0.1, 0.5, 2, 10};

/// A request as it is noted.
struct noted_request {
  protocol by = protocol::resp;
  request_kind kind = request_kind::other;
  request_outcome outcome = request_outcome::done;
  std::uint64_t bytes_in = 0;  ///< of the value stored
  std::uint64_t bytes_out = 0; ///< of the values sent
  std::chrono::nanoseconds took{0};
  std::chrono::nanoseconds made_in{0}; ///< of a hit: how long its value took to make; zero: unknown
};

class server_counters {
public:
  /// Adds to `requests`, `latency` and the counts of the namespace: lookups are `get` and `exists`,
  /// writes are `put` and `erase` that are done. A hit that is a `get` has saved what its value
  /// took to make, less what it took itself.
  void note(const noted_request& one, space_counters& in) noexcept;
  /// The counts of a namespace ("" is the trusted one); the same object for each call. Takes a
  /// lock: a connection asks once.
  space_counters& space(const std::string& name_space);

  /// `requests[protocol][kind][outcome]`.
  std::array<
      std::array<std::array<std::atomic<std::uint64_t>, request_outcome_count>, request_kind_count>,
      protocol_count>
      requests{};
  /// `latency[protocol][kind][bucket]`, and the sums in ns.
  std::array<std::array<std::array<std::atomic<std::uint64_t>, latency_bounds_s.size() + 1>,
                        request_kind_count>,
             protocol_count>
      latency{};
  std::array<std::array<std::atomic<std::uint64_t>, request_kind_count>, protocol_count>
      latency_sum_ns{};
  std::array<std::atomic<std::uint64_t>, protocol_count> connections{}, connections_total{};
  std::atomic<std::uint64_t> connections_refused{0}, protocol_errors{0};
  std::atomic<std::uint64_t> bytes_in{0}, bytes_out{0}; ///< of sockets; `note` leaves them alone
  std::atomic<std::uint64_t> receiving_bytes{0};        ///< of large values being received
  std::atomic<std::uint64_t> sending_bytes{0};          ///< of large values being sent
  std::atomic<std::uint64_t> held_now{0}, held_total{0}, held_hits{0}, held_deadlines{0},
      held_refused{0}, holders_now{0}, holders_ended{0}; ///< misses that wait for a holder
  /// Hits whose value says how long it took to make, and what they saved, in ns.
  std::atomic<std::uint64_t> timed_hits{0}, saved_ns{0};
  std::atomic<std::uint64_t> credentials_right{0}, credentials_wrong{0};

  /// The namespaces seen so far with their counts.
  std::vector<std::pair<std::string, std::shared_ptr<const space_counters>>> spaces() const;

private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<space_counters>> spaces_;
};

} // namespace hearth::server
