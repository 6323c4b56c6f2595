#include "runtime/orchestrator/watched_compiles.hpp"

#include "messages/member_set.hpp"
#include "runtime/caches/actions/observation.hpp"
#include "runtime/engine/calls/ask_actor.hpp"
#include "runtime/fingerprints/watched/inputs.hpp"
#include "runtime/handle/internals.hpp"

#include <utility>

namespace hearth::orchestrator {

watched_compiles::watched_compiles(engine::runtime_core& core, cache actions,
                                   fingerprints::file_view& files,
                                   std::shared_ptr<cache_memo> facts, const std::string& directory)
    : core_(core)
    , actions_(std::move(actions))
    , local_(internals::local_tiers(actions_))
    , files_(files)
    , facts_(std::move(facts))
    , start_(std::make_shared<const fingerprints::start_of_run>()) {
  folder_.folder = directory;
}

// Many compiles of a plan have read the same: each observation is looked at once.
bool watched_compiles::holds(const std::string& observation) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = known_.find(observation); at != known_.end()) return at->second;
  }
  const auto change = fingerprints::change_in(observation, {folder_, files_, *facts_});
  const bool is_same = change && change->empty();
  const std::lock_guard lock(mutex_);
  return known_.try_emplace(observation, is_same).first->second;
}

std::string watched_compiles::find_holding(const member_set& observations) {
  for (const auto& one : observations_in(observations))
    if (holds(one)) return std::string(sha256(one).view());
  return {};
}

watched_compiles::known watched_compiles::look_up(const key& action) {
  const auto entry = local_.get(key::tuple({action, observations_part()}));
  member_set here;
  if (entry && entry->hit()) here = decode_members(entry->value.payload()).value_or(member_set{});
  known found{find_holding(here), digest_of(here)};
  if (!found.observed.empty() || !core_.has_remote()) return found;
  const cache_key base(internals::name(actions_), action.encoded());
  const auto set = derived_key(base, observations_part());
  const auto asked = engine::ask_actor<set_lookup>(core_, core_.shards().owner_of(set),
                                                   verb::refresh_v, set, observation_limits);
  if (!asked || !asked->found.hit()) return found;
  const auto all = decode_members(asked->found.value.payload()).value_or(member_set{});
  return {find_holding(all), digest_of(all)};
}

void watched_compiles::watch(action_request& compile, std::string seen) const {
  compile.process.watch = watching::files;
  compile.keep_failures = true;
  compile.limits_run_alone = true;
  compile.seen = std::move(seen);
  compile.before_start = [start = start_] { start->wait_until_changes_show(); };
  compile.observe = [folder = folder_, start = start_,
                     facts = facts_while_open(facts_)](const action_request::run_record& run) {
    return observe_watched(folder, run, *start, *facts);
  };
}

} // namespace hearth::orchestrator
