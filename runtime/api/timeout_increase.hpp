// By how much a host extends the timeouts of its peers after a hit: those that miss compile for as
// long as the hit has saved. Pure function.
#pragma once

#include "messages/visibility.hpp"

#include <chrono>

namespace HEARTH_PUBLIC hearth {

/// The whole seconds of `saved`, and `percent` of them on top, rounded down: what Inductor adds to
/// the timeouts of collectives. Zero for a negative argument.
constexpr std::chrono::seconds timeout_increase(std::chrono::nanoseconds saved, int percent = 0) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(saved);
  if (whole.count() <= 0) return std::chrono::seconds{0};
  return percent <= 0 ? whole
                      : whole + std::chrono::seconds{whole.count() / 100 * percent +
                                                     whole.count() % 100 * percent / 100};
}

} // namespace hearth
