// What follows from a kernel of a plan: a request a shape, and the entries that serve them. Used by
// the reader of plans, on its caller's thread.
#pragma once

#include "runtime/orchestrator/plan.hpp"
#include "runtime/orchestrator/plan_place.hpp"

namespace hearth::orchestrator {

/// Where the parts of a kernel stand, for errors.
struct kernel_places {
  std::vector<std::vector<plan_place>> dimensions; ///< a list a buffer
  std::vector<plan_place> guards;
  std::vector<plan_place> shapes;
};

/// Adds the requests of `work.kernels[kernel]` and their entries. Errors: as for `load_plan`: a
/// guard or dimension that cannot be evaluated for a shape, a dimension below 1, buffers above the
/// limits of trials, a shape for which no guard holds.
expected<void> add_requests(plan& work, std::size_t kernel, const kernel_places& places);

} // namespace hearth::orchestrator
