// Records a plan that has run, for a bundle. Called by the thread that ran it.
#pragma once

#include "messages/error.hpp"
#include "runtime/handle/recording_session.hpp"
#include "runtime/orchestrator/plan.hpp"
#include "runtime/orchestrator/tune_requests.hpp"
#include "runtime/orchestrator/tuning_options.hpp"

namespace hearth::orchestrator {

/// Looks up, and notes in the session, all that the next run of the plan finds on this host: for
/// each kernel and shape the entry whose guard holds, the observations of its compiles, its tuning
/// and the times of its candidates. Results of single candidates are left out: no hit needs them.
/// Errors: as `make_tune_requests`.
expected<void> record_plan(const planning_ports& ports, const plan& work,
                           const tuning_options& options, const recording_session& session);

} // namespace hearth::orchestrator
