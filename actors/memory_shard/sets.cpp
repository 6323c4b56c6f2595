#include "actors/memory_shard/sets.hpp"

#include "actors/memory_shard/held.hpp"
#include "actors/memory_shard/load.hpp"

#include <memory>
#include <utility>

namespace hearth::actors::shard {
namespace {

// Receives the changed set, and why the disk does not hold it, if so.
using set_callback = std::function<void(const set_reply&, const std::optional<error>&)>;

// A set that cannot be read counts as empty; the next change replaces it.
member_set set_in(const artifact& value) {
  return decode_members(value.payload()).value_or(member_set{});
}

lookup lookup_of(tier from, const artifact& value) {
  return value ? lookup{from, value} : lookup{};
}

// Changes the set in memory alone.
set_reply change_in_memory(self_pointer self, const cache_key& key, const set_change& change) {
  const auto held = find_in_memory(self->state, key);
  auto set = set_in(held);
  set_reply reply{held, apply(set, change), {}};
  if (!reply.outcome.changed) return reply;
  reply.value = artifact::make(encode(set));
  if (uses_memory(key)) replace_in_memory(self, key, reply.value);
  return reply;
}

void take_in_set(self_pointer self, const cache_key& key, const set_reply& reply,
                 std::uint64_t asked) {
  if (reply.outcome.changed)
    take_in_write(self, key, reply.value, reply.epochs);
  else if (reply.value && epoch_of(self->state, key) == asked)
    keep_in_memory(self, key, reply.value);
}

// The set that was found, joined with the members that the disk refused.
lookup with_unwritten(const state_type& state, const cache_key& key, lookup found) {
  const auto refused = state.unwritten_members.find(key);
  if (refused == state.unwritten_members.end()) return found;
  auto set = set_in(found.value);
  set.merge(refused->second);
  return {found.hit() ? found.from : tier::memory, artifact::make(encode(set))};
}

// Looks for the set on disk unless memory holds it.
void look_for_set(self_pointer self, const cache_key& key, artifact in_memory,
                  reply_target<lookup> reply) {
  if (in_memory) {
    reply.deliver(with_unwritten(self->state, key, lookup{tier::memory, std::move(in_memory)}));
    return;
  }
  ask_disk(self, key, [self, key, reply](const expected<lookup>& found) mutable {
    reply.deliver(with_unwritten(self->state, key, found.value_or(lookup::unanswered())));
  });
}

// The disk refused the change: remembers its members. What memory holds stays as it is: it may be
// less than the disk has, which other processes go on changing.
set_reply remember_unwritten(state_type& state, const cache_key& key, const set_change& change) {
  constexpr std::size_t max_sets = 1024;
  auto& unwritten = state.unwritten_members;
  if (unwritten.size() >= max_sets && !unwritten.contains(key)) return {};
  auto set = set_in(find_in_memory(state, key));
  set.merge(unwritten[key]);
  const auto outcome = apply(set, change);
  member_set kept = change.joined;
  for (const auto& member : outcome.written)
    kept.add(member);
  unwritten[key].merge(kept);
  return {artifact::make(encode(set)), outcome, {}};
}

// Changes the set on disk and in memory, together with what the disk refused before.
void change_here(self_pointer self, const cache_key& key, set_change change,
                 const set_callback& next) {
  auto& state = self->state;
  if (!uses_disk(state, key)) return next(change_in_memory(self, key, change), std::nullopt);
  const auto refused = state.unwritten_members.extract(key);
  if (!refused.empty()) change.joined.merge(refused.mapped());
  const auto asked = epoch_of(state, key);
  self->request(disk_of(state, key), caf::infinite, verb::merge_v, key, change)
      .then(
          [self, key, next, asked](const set_reply& reply) {
            take_in_set(self, key, reply, asked);
            next(reply, std::nullopt);
          },
          [self, key, next, change](const caf::error& why) {
            next(remember_unwritten(self->state, key, change), from_caf(why));
          });
}

// --- refresh -----------------------------------------------------------------------------------

void look_everywhere(self_pointer self, const cache_key& key, const set_limits& limits);

// Answers the requests that the server was asked for; those that came meanwhile are next.
void end_refresh(self_pointer self, const cache_key& key, const set_limits& limits,
                 const set_lookup& found) {
  auto& refreshes = self->state.refreshes;
  const auto at = refreshes.find(key);
  auto answered = std::exchange(at->second.asked, std::exchange(at->second.next, {}));
  const bool is_done = at->second.asked.empty();
  if (is_done) refreshes.erase(at);
  for (auto& waiting : answered)
    waiting.deliver(found);
  if (!is_done) look_everywhere(self, key, limits);
}

// Adds and removes members on the server.
void tell_fleet(self_pointer self, const cache_key& key, member_set joined,
                std::vector<set_member> removed) {
  if (joined.empty() && removed.empty()) return;
  set_change change;
  change.joined = std::move(joined);
  change.removed = std::move(removed);
  tell_remote(self, verb::merge_v, key, change);
}

// The server has answered: it gets the members that it lacks, and loses those above the limits.
void give_missing(self_pointer self, const cache_key& key, const artifact& here,
                  const fleet_members& fleet, const std::vector<set_member>& dropped) {
  if (fleet.is_answered) tell_fleet(self, key, set_in(here).without(fleet.members), dropped);
}

// Joins what the server holds with the set of this host.
void join(self_pointer self, const cache_key& key, const set_limits& limits,
          const fleet_members& fleet) {
  const auto held = find_in_memory(self->state, key);
  if (held && !set_in(held).merge(fleet.members)) {
    give_missing(self, key, held, fleet, {});
    return end_refresh(self, key, limits, {lookup{tier::memory, held}, fleet.is_answered});
  }
  set_change change;
  change.joined = fleet.members;
  change.limits = limits;
  change_here(self, key, change, [=](const set_reply& reply, const std::optional<error>&) {
    give_missing(self, key, reply.value, fleet, reply.outcome.dropped);
    end_refresh(self, key, limits, {lookup_of(tier::remote, reply.value), fleet.is_answered});
  });
}

void answer_from_here(self_pointer self, const cache_key& key, const set_limits& limits,
                      const fleet_members& fleet) {
  look_for_set(self, key, get_again_from_memory(self->state, key),
               reply_target<lookup>([=](const expected<lookup>& found) {
                 const auto here = found.value_or(lookup{});
                 give_missing(self, key, here.value, fleet, {});
                 end_refresh(self, key, limits, {here, fleet.is_answered});
                 return true;
               }));
}

void ask_fleet(self_pointer self, const cache_key& key, const set_limits& limits) {
  self->request(self->state.config.remote, caf::infinite, verb::find_set_v, key)
      .then(
          [=](const fleet_members& fleet) {
            if (fleet.members.empty())
              answer_from_here(self, key, limits, fleet);
            else
              join(self, key, limits, fleet);
          },
          [=](const caf::error&) { answer_from_here(self, key, limits, {}); });
}

void look_everywhere(self_pointer self, const cache_key& key, const set_limits& limits) {
  if (uses_remote(self->state, key))
    ask_fleet(self, key, limits);
  else
    answer_from_here(self, key, limits, {true, {}}); // no other tier to ask
}

} // namespace

void find_set(self_pointer self, const cache_key& key, reply_target<lookup> reply) {
  auto value = get_from_memory(self->state, key);
  const bool is_counted = static_cast<bool>(value);
  look_for_set(self, key, std::move(value),
               reply_target<lookup>([=](const expected<lookup>& found) mutable {
                 if (!is_counted && found) count_lookup(key, found->from);
                 return reply.deliver(found);
               }));
}

void refresh_set(self_pointer self, const cache_key& key, const set_limits& limits,
                 reply_target<set_lookup> reply) {
  const auto [at, is_first] = self->state.refreshes.try_emplace(key);
  (is_first ? at->second.asked : at->second.next).push_back(std::move(reply));
  if (is_first) look_everywhere(self, key, limits);
}

void merge_set(self_pointer self, const cache_key& key, const set_change& change,
               reply_target<set_reply> reply) {
  change_here(self, key, change,
              [=](const set_reply& changed, const std::optional<error>& why) mutable {
                auto joined = change.joined;
                for (const auto& member : changed.outcome.written)
                  joined.add(member);
                auto removed = change.removed;
                const auto& dropped = changed.outcome.dropped;
                removed.insert(removed.end(), dropped.begin(), dropped.end());
                tell_fleet(self, key, std::move(joined), std::move(removed));
                if (why)
                  reply.deliver(fail(*why));
                else
                  reply.deliver(changed);
              });
}

} // namespace hearth::actors::shard
