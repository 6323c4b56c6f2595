#include "bench/frame/figures.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>

namespace hearth::bench {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double quantile(std::vector<double> values, double fraction) {
  if (values.empty()) return 0;
  const auto rank = std::ceil(fraction * static_cast<double>(values.size()));
  const auto at = std::min(static_cast<std::size_t>(std::max(rank, 1.0)), values.size()) - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

std::vector<double> ratios_of(const std::vector<double>& over, const std::vector<double>& under) {
  std::vector<double> ratios(std::min(over.size(), under.size()));
  for (std::size_t i = 0; i < ratios.size(); ++i)
    ratios[i] = over[i] / under[i];
  return ratios;
}

std::string time_text(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.3g} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} s", seconds);
}

} // namespace hearth::bench
