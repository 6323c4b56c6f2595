#include "messages/autotune/descent.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

namespace hearth {
namespace {

// Numbers in order, then all other values.
bool is_before(const value& a, const value& b) {
  const auto* x = a.as<std::int64_t>();
  const auto* y = b.as<std::int64_t>();
  if (x && y) return *x < *y;
  if (x || y) return x != nullptr;
  return encode(a) < encode(b);
}

std::vector<std::string> parameters_of(const std::vector<value::map>& grid) {
  std::set<std::string> names;
  for (const auto& config : grid)
    for (const auto& [name, v] : config)
      names.insert(name);
  return {names.begin(), names.end()};
}

value value_at(const value::map& config, const std::string& name) {
  const auto at = config.find(name);
  return at == config.end() ? value() : at->second;
}

// For one parameter, the rank of each candidate's value among all values of that parameter.
std::vector<std::size_t> ranks_along(const std::vector<value::map>& grid, const std::string& name) {
  std::vector<value> values;
  for (const auto& config : grid)
    values.push_back(value_at(config, name));
  auto sorted = values;
  std::sort(sorted.begin(), sorted.end(), is_before);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<std::size_t> ranks;
  for (const auto& v : values)
    ranks.push_back(static_cast<std::size_t>(
        std::lower_bound(sorted.begin(), sorted.end(), v, is_before) - sorted.begin()));
  return ranks;
}

} // namespace

std::size_t coordinate_descent::usual_budget(std::size_t candidates) {
  return std::max<std::size_t>(1, candidates / 3);
}

coordinate_descent::coordinate_descent(std::vector<value::map> grid, std::size_t budget)
    : grid_(std::move(grid))
    , parameters_(parameters_of(grid_))
    , budget_(std::min(std::max<std::size_t>(1, budget), grid_.size())) {
  for (const auto& name : parameters_)
    ranks_.push_back(ranks_along(grid_, name));
}

// The candidates that differ from the current one in this parameter only.
std::vector<std::size_t> coordinate_descent::line_of(const std::string& parameter) const {
  std::vector<std::size_t> line;
  auto here = grid_[current_];
  here.erase(parameter);
  for (std::size_t i = 0; i < grid_.size(); ++i) {
    auto other = grid_[i];
    other.erase(parameter);
    if (i != current_ && other == here) line.push_back(i);
  }
  return line;
}

std::vector<std::size_t> coordinate_descent::unmeasured(std::vector<std::size_t> some) const {
  std::erase_if(some, [this](std::size_t i) { return asked_.contains(i); });
  return some;
}

std::size_t coordinate_descent::distance(std::size_t a, std::size_t b) const {
  std::size_t sum = 0;
  for (const auto& ranks : ranks_)
    sum += ranks[a] > ranks[b] ? ranks[a] - ranks[b] : ranks[b] - ranks[a];
  return sum;
}

// The candidates nearest to the current one, as many as the budget allows.
std::vector<std::size_t> coordinate_descent::ask(std::vector<std::size_t> some) {
  std::stable_sort(some.begin(), some.end(), [this](std::size_t a, std::size_t b) {
    return distance(a, current_) < distance(b, current_);
  });
  if (some.size() > budget_left()) some.resize(budget_left());
  asked_.insert(some.begin(), some.end());
  return some;
}

std::vector<std::size_t> coordinate_descent::begin_elsewhere() {
  if (budget_left() == 0) return {};
  const auto nearest_measured = [this](std::size_t i) {
    std::size_t nearest = ~std::size_t{0};
    for (const auto other : asked_)
      nearest = std::min(nearest, distance(i, other));
    return nearest;
  };
  std::size_t farthest = current_;
  std::size_t best = 0;
  for (std::size_t i = 0; i < grid_.size(); ++i) {
    if (asked_.contains(i)) continue;
    const auto far = nearest_measured(i);
    if (far > best) {
      best = far;
      farthest = i;
    }
  }
  if (asked_.contains(farthest)) return {};
  current_ = farthest;
  without_gain_ = 0;
  is_start_ = true;
  asked_.insert(farthest);
  return {farthest};
}

std::vector<std::size_t> coordinate_descent::next() {
  if (grid_.empty()) return {};
  if (asked_.empty()) {
    asked_.insert(current_);
    return {current_};
  }
  while (without_gain_ < parameters_.size() && budget_left() > 0) {
    auto some = ask(unmeasured(line_of(parameters_[parameter_])));
    if (!some.empty()) return some;
    parameter_ = (parameter_ + 1) % parameters_.size();
    ++without_gain_;
  }
  if (optima_.empty() || optima_.back() != current_) optima_.push_back(current_);
  return begin_elsewhere();
}

void coordinate_descent::note(std::size_t fastest) {
  if (std::exchange(is_start_, false)) return;
  without_gain_ = fastest == current_ ? without_gain_ + 1 : 0;
  current_ = fastest;
  if (!parameters_.empty()) parameter_ = (parameter_ + 1) % parameters_.size();
}

} // namespace hearth
