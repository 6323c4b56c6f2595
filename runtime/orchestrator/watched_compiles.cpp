#include "runtime/orchestrator/watched_compiles.hpp"

#include "messages/member_set.hpp"
#include "runtime/actions/observation.hpp"
#include "runtime/actions/tool_identity.hpp"
#include "runtime/engine/calls/ask_actor.hpp"
#include "runtime/fingerprints/watched/inputs.hpp"
#include "runtime/handle/internals.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace hearth::orchestrator {
namespace {

// As the compiler sees its folder.
std::string real_path(const std::string& directory) {
  std::error_code failure;
  const auto real = std::filesystem::canonical(directory, failure);
  return failure ? directory : real.string();
}

member_set members_of(const artifact& entry) {
  return entry ? decode_members(entry.payload()).value_or(member_set{}) : member_set{};
}

} // namespace

watched_compiles::watched_compiles(engine::runtime_core& core, cache actions,
                                   fingerprints::file_view& files,
                                   std::shared_ptr<cache_memo> facts, const std::string& directory)
    : core_(core)
    , actions_(std::move(actions))
    , local_(internals::local_tiers(actions_))
    , files_(files)
    , facts_(std::move(facts))
    , start_(std::make_shared<const fingerprints::start_of_run>()) {
  folder_.folder = real_path(directory);
}

// Many compiles of a plan have read the same: each observation is looked at once.
watched_compiles::checked watched_compiles::check(const std::string& observation) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = checked_.find(observation); at != checked_.end()) return at->second;
  }
  const auto hash = sha256(observation);
  const auto change = fingerprints::change_in(observation, hash, {folder_, files_, *facts_});
  const bool is_same = change && change->empty();
  const std::lock_guard lock(mutex_);
  return checked_
      .try_emplace(observation,
                   checked{is_same, std::string(hash.view()), change.value_or(std::string())})
      .first->second;
}

watched_compiles::known watched_compiles::known_of(const member_set& observations) {
  known found{{}, digest_of(observations)};
  for (const auto& one : observations_in(observations)) {
    auto now = check(one);
    if (!now.holds) {
      if (found.change.empty()) found.change = std::move(now.change);
      continue;
    }
    found.observed = std::move(now.hash);
    break;
  }
  return found;
}

// The shapes of a kernel share their compiles.
watched_compiles::known watched_compiles::look_up_here(const key& action) {
  const std::string name(action.encoded());
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = here_.find(name); at != here_.end()) return at->second;
  }
  const auto entry = local_.get(key::tuple({action, observations_part()}));
  auto found = known_of(entry && entry->hit() ? members_of(entry->value) : member_set{});
  const std::lock_guard lock(mutex_);
  return here_.try_emplace(name, std::move(found)).first->second;
}

// The union of what the fleet has and this host.
watched_compiles::known watched_compiles::ask_fleet(const key& action) {
  const cache_key base(internals::name(actions_), action.encoded());
  const auto set = derived_key(base, observations_part());
  const auto asked = engine::ask_actor<set_lookup>(core_, core_.shards().owner_of(set),
                                                   verb::refresh_v, set, observation_limits);
  return known_of(asked && asked->found.hit() ? members_of(asked->found.value) : member_set{});
}

std::vector<watched_compiles::known> watched_compiles::look_up(const std::vector<key>& actions,
                                                               bool asks_fleet) {
  std::vector<known> all;
  for (const auto& action : actions)
    all.push_back(look_up_here(action));
  const bool is_known =
      std::any_of(all.begin(), all.end(), [](const known& one) { return !one.observed.empty(); });
  if (!core_.has_remote() || (is_known && !asks_fleet)) return all;
  for (std::size_t i = 0; i < actions.size(); ++i)
    all[i] = ask_fleet(actions[i]);
  return all;
}

void watched_compiles::watch(action_request& compile, std::string seen) const {
  compile.process.watch = watching_of_compiler(compile.process);
  add_quiet_variables(compile.process.environment);
  compile.failures = action_request::failure_keeping::inputs;
  compile.limits_run_alone = true;
  compile.seen = std::move(seen);
  compile.before_start = [start = start_] { start->wait_until_changes_show(); };
  compile.observe = [folder = folder_, start = start_,
                     facts = facts_while_open(facts_)](const action_request::run_record& run) {
    return observe_watched(folder, run, *start, *facts);
  };
}

} // namespace hearth::orchestrator
