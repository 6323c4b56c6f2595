// Which of several kernels is the fastest, on a machine that others disturb: all are measured in
// turn, round after round, so that what disturbs for a while disturbs all; each counts by the
// median of its rounds; whoever is clearly behind drops out, and when one is left it is decided.
// Plain value, no clock.
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
  /// Rounds after which the least median wins however close it is.
  static constexpr std::size_t max_rounds = 5;

  void enter(std::size_t contender) { times_.try_emplace(contender); }
  /// Takes one out that cannot be measured.
  void drop(std::size_t contender) { times_.erase(contender); }
  /// One call of it took so long in this round.
  void note(std::size_t contender, std::int64_t time_ns);

  /// Whom to measure in the next round, in their order; nobody: it is decided.
  std::vector<std::size_t> next_round();

  /// The least median among those who were measured; none when nobody was.
  std::optional<std::size_t> winner() const;
  /// The median of a contender's rounds; of an even number the lower one. 0 when it has none.
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
