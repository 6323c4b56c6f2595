// Turns a plan into requests to the kernel tuner: keys, candidates, trials. Called by the thread
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

/// The requests of a plan to the tuner, and the scope that names its tunings.
struct planned_tuning {
  std::vector<tune_request_ptr> entries; ///< in the plan's order
  tuning_scope scope;
};

/// How a plan is tuned.
struct tuning_options {
  tune_mode mode = tune_mode::full;
  std::string tag; ///< distinguishes databases of tunings
};

/// Identifies the compiler, scans the includes of each source, and makes one request per entry of
/// the plan, in order; handles `core.jobs()` entries in parallel. Errors: as `compile_plan`.
expected<planned_tuning> make_tune_requests(engine::runtime_core& core, const plan& work,
                                            const tuning_options& options,
                                            actors::process_runner& runner,
                                            fingerprints::fact_memo& memo);

/// Copies of the requests whose tunings are noted for a session of the bundler.
std::vector<tune_request_ptr> noted_for(std::vector<tune_request_ptr> entries,
                                        std::uint64_t bundle_session);

/// The request for another shape that the entry serves; no session notes it.
tune_request_ptr for_shape(const tune_request_ptr& entry, const plan& work,
                           const plan_request& shape);

} // namespace hearth::orchestrator
