#include "runtime/orchestrator/plan_recording.hpp"

#include "messages/action.hpp"
#include "runtime/engine/calls/ask_actor.hpp"
#include "runtime/handle/internals.hpp"
#include "storage/bundle/record_head.hpp"

#include <numeric>
#include <string_view>
#include <vector>

namespace hearth::orchestrator {
namespace {

using storage::plan_record_type;
using storage::tuning_record_type;

class plan_recorder {
public:
  plan_recorder(engine::runtime_core& core, const recording_session& session)
      : core_(core)
      , session_(session) {}

  void note(const tune_request& request, const hints& sizes) const {
    note_variant(request.key, sizes);
    note_variant(request.untuned_key, sizes);
  }
  void note_knowledge(const tune_request& request) const {
    for (const auto& one : request.candidates)
      note_set(derived_key(one.action_key, observations_part()));
    note_entry(tuning_record_type, request.address.local);
    note_entry(tuning_record_type, request.times_key);
  }

private:
  void note_variant(const cache_key& at, const hints& sizes) const {
    const auto found =
        engine::ask_actor<guarded_reply>(core_, core_.guarded(), verb::get_v, at, sizes);
    if (found && found->status == guarded_status::hit)
      internals::note_variant(session_, plan_record_type, at, found->guard, found->found.value);
  }

  void note_set(const cache_key& at) const {
    note_found(plan_record_type, at,
               engine::ask_actor<lookup>(core_, core_.shards().owner_of(at), verb::find_set_v, at));
  }

  // An entry of a cache that is off has no cache.
  void note_entry(std::string_view type, const cache_key& at) const {
    if (!at.cache) return;
    note_found(type, at,
               engine::ask_actor<lookup>(core_, core_.shards().owner_of(at), verb::get_v, at));
  }

  void note_found(std::string_view type, const cache_key& at, const expected<lookup>& found) const {
    if (found && found->hit()) internals::note(session_, type, at, found->value);
  }

  engine::runtime_core& core_;
  const recording_session& session_;
};

} // namespace

expected<void> record_plan(const planning_ports& ports, const plan& work,
                           const tuning_options& options, const recording_session& session) {
  std::vector<std::size_t> all(work.entries.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto planned = make_tune_requests(ports, work, options, all);
  if (!planned) return fail(planned.error());
  const plan_recorder recorder(ports.core, session);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& entry = planned->entries[i];
    for (const auto request : work.entries[i].requests)
      recorder.note(*entry, for_shape(entry, work, work.requests[request], {})->sizes);
    recorder.note_knowledge(*entry);
  }
  return {};
}

} // namespace hearth::orchestrator
