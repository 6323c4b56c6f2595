#include "messages/autotune/contest.hpp"

#include <algorithm>
#include <array>

namespace hearth {
namespace {

// How far a contender's best round may be above the leader's median before it drops out, by the
// number of rounds: a single round may be far off. A core that shares its units with a busy one
// runs at two thirds of its speed, for longer than a round.
constexpr std::array<double, contest::max_rounds> margins{0.60, 0.30, 0.15, 0.08, 0.05};

} // namespace

void contest::note(std::size_t contender, std::int64_t time_ns) {
  auto& times = times_[contender];
  times.insert(std::upper_bound(times.begin(), times.end(), time_ns), time_ns);
}

void contest::drop_who_is_behind(std::size_t leader) {
  const auto margin = margins[std::min(rounds_, margins.size()) - 1];
  const auto limit = static_cast<double>(median_ns(leader)) * (1 + margin);
  for (const auto& [contender, times] : times_)
    if (contender != leader && !times.empty() && static_cast<double>(times.front()) > limit)
      behind_.insert(contender);
}

std::vector<std::size_t> contest::next_round() {
  if (const auto leader = winner()) drop_who_is_behind(*leader);
  std::vector<std::size_t> left;
  for (const auto& [contender, times] : times_)
    if (!behind_.contains(contender)) left.push_back(contender);
  const bool is_decided = rounds_ > 0 && (left.size() <= 1 || rounds_ >= max_rounds);
  if (is_decided) return {};
  ++rounds_;
  return left;
}

std::optional<std::size_t> contest::winner() const {
  std::optional<std::size_t> best;
  for (const auto& [contender, times] : times_)
    if (!times.empty() && (!best || median_ns(contender) < median_ns(*best))) best = contender;
  return best;
}

std::int64_t contest::median_ns(std::size_t contender) const {
  const auto at = times_.find(contender);
  if (at == times_.end() || at->second.empty()) return 0;
  return at->second[(at->second.size() - 1) / 2];
}

std::int64_t contest::slowest_ns() const {
  std::int64_t slowest = 0;
  for (const auto& [contender, times] : times_)
    slowest = std::max(slowest, median_ns(contender));
  return slowest;
}

} // namespace hearth
