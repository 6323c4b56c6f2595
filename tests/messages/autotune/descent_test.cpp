#include "messages/autotune/descent.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace descent_test {

using namespace hearth;

namespace {

using cost = std::function<double(const value::map&)>;

std::vector<value::map> grid(const std::map<std::string, std::vector<std::int64_t>>& axes) {
  std::vector<value::map> all{{}};
  for (const auto& [name, values] : axes) {
    std::vector<value::map> longer;
    for (const auto& config : all)
      for (const auto v : values) {
        longer.push_back(config);
        longer.back()[name] = v;
      }
    all = std::move(longer);
  }
  return all;
}

double number(const value::map& config, const std::string& name) {
  return static_cast<double>(*config.at(name).as<std::int64_t>());
}

struct outcome {
  std::size_t best = 0;
  std::size_t measured = 0;
};

outcome descend(const std::vector<value::map>& all, const cost& time, std::size_t budget = 0) {
  coordinate_descent search(all, budget ? budget : coordinate_descent::usual_budget(all.size()));
  std::set<std::size_t> seen;
  for (auto some = search.next(); !some.empty(); some = search.next()) {
    std::size_t fastest = search.current();
    for (const auto i : some) {
      CHECK(seen.insert(i).second); // no candidate is measured as new twice
      if (time(all[i]) < time(all[fastest])) fastest = i;
    }
    search.note(fastest);
  }
  std::size_t best = search.optima().front();
  for (const auto i : search.optima())
    if (time(all[i]) < time(all[best])) best = i;
  CHECK(seen.size() == search.measured());
  return {best, seen.size()};
}

double least(const std::vector<value::map>& all, const cost& time) {
  double best = std::numeric_limits<double>::max();
  for (const auto& config : all)
    best = std::min(best, time(config));
  return best;
}

} // namespace

TEST_CASE("along independent parameters descent finds the best with a third of the grid") {
  const auto all = grid({{"A", {1, 2, 4, 8}}, {"B", {1, 2, 4, 8}}, {"C", {1, 2, 4}}});
  const auto time = [](const value::map& c) {
    return 100 + std::abs(std::log2(number(c, "A")) - 2) * 30 +
           std::abs(std::log2(number(c, "B")) - 1) * 20 + number(c, "C");
  };
  const auto found = descend(all, time);
  CHECK(time(all[found.best]) == least(all, time));
  CHECK(found.measured <= 16);
}

TEST_CASE("where parameters depend on each other it starts again from elsewhere") {
  const auto all = grid({{"A", {1, 2, 3, 4, 5, 6, 7, 8}}, {"B", {1, 2, 3, 4, 5, 6, 7, 8}}});
  // Two valleys; no line from the start leads into the deeper one.
  const auto time = [](const value::map& c) {
    const double a = number(c, "A"), b = number(c, "B");
    return std::min(100 + std::abs(a - 2) * 5 + std::abs(b - 2) * 5,
                    60 + std::abs(a - 7) * 20 + std::abs(b - 7) * 20);
  };
  const auto found = descend(all, time, 40);
  CHECK(time(all[found.best]) == 60);
  CHECK(found.measured <= 40);
}

TEST_CASE("a third is never exceeded, and a small grid is measured as far as a third goes") {
  for (const std::size_t size : {1u, 2u, 3u, 5u, 48u, 100u}) {
    std::vector<value::map> all;
    for (std::size_t i = 0; i < size; ++i)
      all.push_back({{"A", static_cast<std::int64_t>(i)}});
    const auto found = descend(all, [](const value::map& c) { return 500 - number(c, "A"); });
    CHECK(found.measured <= std::max<std::size_t>(1, size / 3));
  }
  CHECK(coordinate_descent({}, 5).next().empty());
}

TEST_CASE("parameters without an order and missing combinations are allowed") {
  const std::vector<value::map> all{
      {{"A", "x"}, {"B", 1}}, {{"A", "y"}, {"B", 1}},  {{"A", "y"}, {"B", 2}}, {{"A", "z"}},
      {{"A", "z"}, {"B", 2}}, {{"A", true}, {"B", 2}}, {{"A", 2.5}, {"B", 2}}};
  coordinate_descent search(all, all.size());
  std::set<std::size_t> seen;
  for (auto some = search.next(); !some.empty(); some = search.next()) {
    seen.insert(some.begin(), some.end());
    search.note(some.front());
  }
  CHECK(seen.size() == all.size());
}

TEST_CASE("on random smooth surfaces the median of the results is within a tenth") {
  const auto all = grid({{"A", {1, 2, 4, 8}}, {"B", {1, 2, 3, 4, 6}}, {"C", {1, 2, 4}}});
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> weight(-1, 1);
  std::vector<double> ratios;
  for (int i = 0; i < 101; ++i) {
    double w[6];
    for (auto& one : w)
      one = weight(random);
    const auto time = [&](const value::map& c) {
      const double a = std::log2(number(c, "A")) / 3, b = number(c, "B") / 6,
                   d = std::log2(number(c, "C")) / 2;
      return std::exp(w[0] * a + w[1] * b + w[2] * d + w[3] * a * b + w[4] * b * d + w[5] * a * d);
    };
    ratios.push_back(time(all[descend(all, time).best]) / least(all, time));
  }
  std::nth_element(ratios.begin(), ratios.begin() + 50, ratios.end());
  CHECK(ratios[50] <= 1.1);
}

} // namespace descent_test
