// Finds the fastest of several kernels on a machine with other load. All contenders are measured in
// turn, round after round, so that a disturbance affects all of them. A contender's result is the
// median of its rounds. A contender that is clearly behind drops out; the contest ends when one is
// left. Plain value, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace hearth {

class contest {
public:
  /// After this many rounds the lowest median wins, however close the others are.
  static constexpr std::size_t max_rounds = 5;

  void enter(std::size_t contender) { times_.try_emplace(contender); }
  /// Removes a contender that cannot be measured.
  void drop(std::size_t contender) { times_.erase(contender); }
  /// Notes how long one call of the contender took in this round.
  void note(std::size_t contender, std::int64_t time_ns);

  /// The contenders to measure in the next round, in order; empty: the contest has ended.
  std::vector<std::size_t> next_round();

  /// The contender with the lowest median; empty if none was measured.
  std::optional<std::size_t> winner() const;
  /// The median of a contender's rounds, the lower one of an even number of rounds. 0 without
  /// rounds.
  std::int64_t median_ns(std::size_t contender) const;
  /// The largest median.
  std::int64_t slowest_ns() const;

private:
  void drop_who_is_behind(std::size_t leader);

  std::map<std::size_t, std::vector<std::int64_t>> times_; // sorted, by contender
  std::set<std::size_t> behind_;
  std::size_t rounds_ = 0;
};

} // namespace hearth
