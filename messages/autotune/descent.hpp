// Coordinate descent over a grid of configurations: which candidates to measure next. From one
// candidate along one parameter at a time to the fastest, until no parameter helps any more; then
// again from the candidate that is farthest from all that were measured, while the budget lasts.
// Plain value, no clock.
#pragma once

#include "messages/value.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace hearth {

class coordinate_descent {
public:
  /// `grid`: the candidates' parameters; not all combinations have to be there. Starts at the
  /// first; at most `budget` of them are measured.
  coordinate_descent(std::vector<value::map> grid, std::size_t budget);

  /// How many of `candidates` are measured at most: a third, and at least one.
  static std::size_t usual_budget(std::size_t candidates);

  /// Candidates to compare with each other and with `current`, whether they were measured before or
  /// not; none: it is over.
  std::vector<std::size_t> next();
  /// The fastest of the last `next` and `current`.
  void note(std::size_t fastest);

  /// Where it stands now.
  std::size_t current() const { return current_; }
  /// Where it stood each time that nothing helped any more.
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
  std::vector<std::vector<std::size_t>>
      ranks_; // of each candidate's values among their parameter's
  std::size_t budget_;
  std::set<std::size_t> asked_;
  std::size_t current_ = 0;
  std::size_t parameter_ = 0;    // to look along next
  std::size_t without_gain_ = 0; // parameters in a row that did not help
  bool is_start_ = true;         // what was asked for last is where a descent begins
  std::vector<std::size_t> optima_;
};

} // namespace hearth
