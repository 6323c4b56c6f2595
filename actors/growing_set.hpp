// Requests about entries that grow, as the actors that have such entries send them. Each on its own
// thread.
#pragma once

#include "actors/shard_router.hpp"
#include "actors/timeouts.hpp"
#include "messages/caf_compat.hpp"
#include "messages/protocol.hpp"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace hearth::actors {

/// A set that a host before format 3 stored as one value, under a key of its own.
struct earlier_form {
  cache_key key;
  /// The members in such a value; none when it is another one. Their stamps are 0: every later
  /// write counts rather.
  std::function<std::vector<set_member>(const artifact&)> members;
};

/// The members of a set; empty when it cannot be read.
inline member_set members_of(const artifact& value) {
  return value ? decode_members(value.payload()).value_or(member_set{}) : member_set{};
}

/// What is known of a set.
struct known_set {
  member_set members;
  tier from = tier::none;
};
using set_callback = std::function<void(const known_set&)>;

/// Passes the set of the nearest of memory and disk to `next`; an empty one if it cannot be read.
template <class Self>
void find_set(Self self, const shard_router& shards, const cache_key& key,
              const set_callback& next) {
  self->request(shards.owner_of(key), answer_timeout, verb::find_set_v, key)
      .then(
          [next](const lookup& found) {
            next({members_of(found.value), found.from});
          },
          [next](const caf::error&) { next({}); });
}

namespace detail {

// The answers about the set and about its earlier form, which are asked for at the same time.
struct set_refresh {
  cache_key key;
  set_limits limits;
  earlier_form earlier;
  set_callback next;
  known_set found;
  std::vector<set_member> old;
  int open = 2;
};
using set_refresh_ptr = std::shared_ptr<set_refresh>;

// Takes members of the earlier form over, if the set does not have them.
template <class Self>
void end_refresh(Self self, const shard_router& shards, const set_refresh_ptr& refresh) {
  if (--refresh->open != 0) return;
  set_change change;
  for (auto& member : refresh->old)
    if (!refresh->found.members.find(member.id)) change.joined.add(std::move(member));
  if (change.joined.empty()) return refresh->next(refresh->found);
  change.limits = refresh->limits;
  self->request(shards.owner_of(refresh->key), answer_timeout, verb::merge_v, refresh->key, change)
      .then(
          [refresh](const set_reply& reply) {
            refresh->found.members = members_of(reply.value);
            refresh->next(refresh->found);
          },
          [refresh, change](const caf::error&) {
            refresh->found.members.merge(change.joined);
            refresh->next(refresh->found);
          });
}

} // namespace detail

/// Asks the fleet for the set, and passes its union with what this host has to `next`. If the fleet
/// does not answer in time, that is what this host has.
template <class Self>
void refresh_set(Self self, const shard_router& shards, const cache_key& key,
                 const set_limits& limits, const earlier_form& earlier, set_callback next) {
  const auto refresh = std::make_shared<detail::set_refresh>(
      detail::set_refresh{key, limits, earlier, std::move(next), {}, {}});
  self->request(shards.owner_of(key), answer_timeout, verb::refresh_v, key, limits)
      .then(
          [=](const set_lookup& found) {
            refresh->found = {members_of(found.found.value), found.found.from};
            detail::end_refresh(self, shards, refresh);
          },
          [=](const caf::error&) { detail::end_refresh(self, shards, refresh); });
  self->request(shards.owner_of(earlier.key), answer_timeout, verb::get_v, earlier.key)
      .then(
          [=](const lookup& found) {
            if (found.hit()) refresh->old = refresh->earlier.members(found.value);
            detail::end_refresh(self, shards, refresh);
          },
          [=](const caf::error&) { detail::end_refresh(self, shards, refresh); });
}

/// Changes the set, in every tier of its cache, and passes the outcome to `next`.
template <class Self>
void change_set(Self self, const shard_router& shards, const cache_key& key, set_change change,
                std::function<void(const expected<set_reply>&)> next) {
  self->request(shards.owner_of(key), answer_timeout, verb::merge_v, key, std::move(change))
      .then([next](const set_reply& reply) { next(reply); },
            [next](const caf::error& why) { next(fail(from_caf(why))); });
}

} // namespace hearth::actors
