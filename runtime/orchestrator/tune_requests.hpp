// From a plan to what the kernel tuner is asked: keys, candidates, trials. Called by the thread
// that runs the plan.
#pragma once

#include "actors/ports/programs.hpp"
#include "messages/autotune/names.hpp"
#include "messages/tuning.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/fingerprints/toolchain/fact_memo.hpp"
#include "runtime/orchestrator/plan.hpp"

#include <vector>

namespace hearth::orchestrator {

/// What a plan needs of the tuner, and under which names its tunings are kept.
struct planned_tuning {
  std::vector<tune_request_ptr> entries; ///< in the plan's order
  tuning_scope scope;
};

/// How a plan is tuned.
struct tuning_options {
  tune_mode mode = tune_mode::full;
  std::string tag; ///< tells databases of tunings apart
};

/// Identifies the compiler, finds what each source includes, and makes a request of every entry of
/// the plan, in their order; `core.jobs()` kernels are looked at at once. Errors: as
/// `compile_plan`.
expected<planned_tuning> make_tune_requests(engine::runtime_core& core, const plan& work,
                                            const tuning_options& options,
                                            actors::process_runner& runner,
                                            fingerprints::fact_memo& memo);

/// The same, noted for a session of the bundler.
std::vector<tune_request_ptr> noted_for(std::vector<tune_request_ptr> entries,
                                        std::uint64_t bundle_session);

/// The same request for another shape that its entry serves; it is noted for no session.
tune_request_ptr for_shape(const tune_request_ptr& entry, const plan& work,
                           const plan_request& shape);

} // namespace hearth::orchestrator
