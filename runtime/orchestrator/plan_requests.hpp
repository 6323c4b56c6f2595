// Derives the requests of a plan's kernel, one per shape, and the entries that serve them. The
// reader of plans calls it, on its caller's thread.
#pragma once

#include "runtime/orchestrator/plan.hpp"
#include "runtime/orchestrator/plan_place.hpp"

namespace hearth::orchestrator {

/// The places of a kernel's parts, for errors.
struct kernel_places {
  std::vector<std::vector<plan_place>> dimensions; ///< one list per buffer
  std::vector<plan_place> guards;
  std::vector<plan_place> shapes;
};

/// Adds the requests of `work.kernels[kernel]` and their entries. Errors: as for `load_plan`: a
/// guard or dimension that cannot be evaluated for a shape, a dimension below 1, buffers above the
/// limits of trials, a shape for which no guard holds.
expected<void> add_requests(plan& work, std::size_t kernel, const kernel_places& places);

} // namespace hearth::orchestrator
