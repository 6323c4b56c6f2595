// Turns a plan into requests to the kernel tuner: keys, candidates, trials. Called by the thread
// that runs the plan.
#pragma once

#include "messages/autotune/names.hpp"
#include "messages/key_field.hpp"
#include "messages/tuning.hpp"
#include "runtime/caches/facts/cache_memo.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/cache.hpp"
#include "runtime/orchestrator/plan.hpp"
#include "runtime/orchestrator/tuning_options.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace hearth::orchestrator {

/// What the key of an entry is made of, for people.
struct entry_origin {
  std::string subject; ///< what its keys are compared by: the kernel, with its guard or its shape
  key_field shown;
  std::vector<std::string> changes; ///< since its compiles were observed: "libx.so changed"
};

/// The requests of a plan to the tuner, and the scope that names its tunings.
struct planned_tuning {
  std::vector<tune_request_ptr> entries; ///< in the order in which they were asked for
  tuning_scope scope;
  std::vector<entry_origin> origins; ///< of the entries
};

/// What requests are made with.
struct planning_ports {
  engine::runtime_core& core;
  cache actions; ///< of compiles
  std::shared_ptr<cache_memo> facts;
  /// Other processes or hosts have observed more than was known here.
  bool asks_fleet = false;
};

/// Identifies the compiler, scans the includes of each source, looks for what compiles have
/// observed, and makes one request for each of these entries of the plan, in order; handles
/// `core.jobs()` entries in parallel. Errors: as `compile_plan`.
expected<planned_tuning> make_tune_requests(const planning_ports& ports, const plan& work,
                                            const tuning_options& options,
                                            const std::vector<std::size_t>& entries);

/// Copies of the requests whose tunings are noted for a session of the bundler.
std::vector<tune_request_ptr> noted_for(std::vector<tune_request_ptr> entries,
                                        std::uint64_t bundle_session);

/// The request for another shape that the entry serves; no session notes it. `observed`: as in the
/// reply about the entry.
tune_request_ptr for_shape(const tune_request_ptr& entry, const plan& work,
                           const plan_request& shape, const std::vector<std::string>& observed);

} // namespace hearth::orchestrator
