// From a plan to what the kernel tuner is asked: keys, candidates, trials. Called by the thread
// that runs the plan.
#pragma once

#include "actors/ports.hpp"
#include "messages/tuning.hpp"
#include "runtime/core.hpp"
#include "runtime/orchestrator/fact_memo.hpp"
#include "runtime/orchestrator/plan.hpp"

#include <vector>

namespace hearth::orchestrator {

/// Identifies the compiler, finds what each source includes, and makes a request of every entry of
/// the plan, in their order; `core.jobs()` kernels are looked at at once. Errors: as
/// `compile_plan`.
expected<std::vector<tune_request_ptr>> make_tune_requests(runtime_core& core, const plan& work,
                                                           actors::process_runner& runner,
                                                           fact_memo& memo);

/// The same request for another shape that its entry serves.
tune_request_ptr for_shape(const tune_request_ptr& entry, const plan& work,
                           const plan_request& shape);

} // namespace hearth::orchestrator
