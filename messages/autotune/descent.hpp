// Coordinate descent over a grid of configurations: which candidates to measure next. It goes from
// one candidate to the fastest along one parameter at a time, until no parameter gives a faster
// one. Then it starts again from the candidate farthest from all measured ones, while the budget
// lasts. Plain value, no clock.
#pragma once

#include "messages/value.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace hearth {

class coordinate_descent {
public:
  /// `grid`: the candidates' parameters; combinations may be missing. Starts at the first candidate
  /// and measures at most `budget` of them.
  coordinate_descent(std::vector<value::map> grid, std::size_t budget);

  /// The usual budget for so many candidates: a third of them, and at least one.
  static std::size_t usual_budget(std::size_t candidates);

  /// The candidates to compare with each other and with `current`, measured before or not; empty:
  /// the descent has ended.
  std::vector<std::size_t> next();
  /// Notes the fastest of the last `next` and `current`.
  void note(std::size_t fastest);

  /// The candidate at which the descent is now.
  std::size_t current() const { return current_; }
  /// The candidates at which a descent ended.
  const std::vector<std::size_t>& optima() const { return optima_; }
  std::size_t measured() const { return asked_.size(); }

private:
  std::vector<std::size_t> line_of(const std::string& parameter) const;
  std::vector<std::size_t> unmeasured(std::vector<std::size_t> some) const;
  std::vector<std::size_t> ask(std::vector<std::size_t> some);
  std::vector<std::size_t> begin_elsewhere();
  std::size_t distance(std::size_t a, std::size_t b) const;
  std::size_t budget_left() const { return budget_ - asked_.size(); }

  std::vector<value::map> grid_;
  std::vector<std::string> parameters_;
  std::vector<std::vector<std::size_t>> ranks_; // ranks of each candidate's values, by parameter
  std::size_t budget_;
  std::set<std::size_t> asked_;
  std::size_t current_ = 0;
  std::size_t parameter_ = 0;    // the next parameter to vary
  std::size_t without_gain_ = 0; // parameters in a row without a faster candidate
  bool is_start_ = true;         // the last `next` was the start of a descent
  std::vector<std::size_t> optima_;
};

} // namespace hearth
