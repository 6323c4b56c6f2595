#include "runtime/server/status/server_counters.hpp"

#include <algorithm>

namespace hearth::server {
namespace {

void add_count(std::atomic<std::uint64_t>& to, std::uint64_t count = 1) noexcept {
  to.fetch_add(count, std::memory_order_relaxed);
}

// The bucket of the latency histogram; a bound belongs to the bucket below it.
std::size_t latency_bucket(std::chrono::nanoseconds took) noexcept {
  const auto seconds = std::chrono::duration<double>(took).count();
  const auto bound = std::lower_bound(latency_bounds_s.begin(), latency_bounds_s.end(), seconds);
  return static_cast<std::size_t>(bound - latency_bounds_s.begin());
}

void note_in_space(const noted_request& one, space_counters& in) noexcept {
  const bool looks_up = one.kind == request_kind::get || one.kind == request_kind::exists;
  const bool writes = one.kind == request_kind::put || one.kind == request_kind::erase;
  if (looks_up && one.outcome == request_outcome::hit) add_count(in.hits);
  if (looks_up && one.outcome == request_outcome::miss) add_count(in.misses);
  if (writes && one.outcome == request_outcome::done) add_count(in.writes);
  if (one.outcome == request_outcome::refused) add_count(in.refused);
  add_count(in.bytes_in, one.bytes_in);
  add_count(in.bytes_out, one.bytes_out);
}

} // namespace

std::string_view to_string(request_kind kind) noexcept {
  switch (kind) {
  case request_kind::get: return "get";
  case request_kind::exists: return "exists";
  case request_kind::put: return "put";
  case request_kind::erase: return "erase";
  case request_kind::list: return "list";
  case request_kind::other: return "other";
  }
  return "other";
}

std::string_view to_string(request_outcome outcome) noexcept {
  switch (outcome) {
  case request_outcome::hit: return "hit";
  case request_outcome::miss: return "miss";
  case request_outcome::done: return "done";
  case request_outcome::refused: return "refused";
  case request_outcome::failed: return "failed";
  }
  return "failed";
}

void server_counters::note(const noted_request& one, space_counters& in) noexcept {
  const auto by = static_cast<std::size_t>(one.by);
  const auto kind = static_cast<std::size_t>(one.kind);
  const auto took = std::max(one.took, std::chrono::nanoseconds(0));
  add_count(requests[by][kind][static_cast<std::size_t>(one.outcome)]);
  add_count(latency[by][kind][latency_bucket(took)]);
  add_count(latency_sum_ns[by][kind], static_cast<std::uint64_t>(took.count()));
  if (one.kind == request_kind::get && one.outcome == request_outcome::hit &&
      one.made_in.count() > 0) {
    add_count(timed_hits);
    const auto saved = std::max(one.made_in - took, std::chrono::nanoseconds(0));
    add_count(saved_ns, static_cast<std::uint64_t>(saved.count()));
  }
  note_in_space(one, in);
}

space_counters& server_counters::space(const std::string& name_space) {
  const std::lock_guard lock(mutex_);
  auto& counts = spaces_[name_space];
  if (!counts) counts = std::make_shared<space_counters>();
  return *counts;
}

std::vector<std::pair<std::string, std::shared_ptr<const space_counters>>>
server_counters::spaces() const {
  const std::lock_guard lock(mutex_);
  return {spaces_.begin(), spaces_.end()};
}

} // namespace hearth::server
