#include "actors/remote_tier.hpp"

#include "actors/remote_tier/counts.hpp"
#include "actors/remote_tier/leases.hpp"
#include "actors/remote_tier/lookups.hpp"
#include "actors/remote_tier/purges.hpp"
#include "actors/remote_tier/service.hpp"
#include "actors/remote_tier/sets.hpp"
#include "actors/remote_tier/unheard.hpp"
#include "actors/remote_tier/writes.hpp"

#include <algorithm>
#include <utility>

namespace hearth::actors {
namespace {

using storage::remote_write;

void adapt_to_cluster(storage::write_behind_limits& queue) {
  // An erase begins at the log, another node, so a later write could overtake it.
  queue.erases_alone = true;
  // Those of a node that is ill wait in flight, and must not stop those of the others.
  queue.in_flight = std::max<std::size_t>(queue.in_flight, 1024);
}

void begin(remote::self_pointer self, remote_tier_config config) {
  auto& state = self->state;
  state.service = storage::breaker(config.breaker);
  auto writing = config.breaker;
  writing.seed = ~writing.seed;
  state.writing = storage::breaker(writing);
  if (config.naming.has_hash_tags) adapt_to_cluster(config.queue);
  state.writes = storage::write_behind(config.queue);
  state.config = std::move(config);
  state.config.gate->is_open = state.config.mode != remote_mode::write_only;
  remote::probe(self); // connects, so that the first lookup finds a connection
}

// Answers when all writes are sent or none can be sent any more. Until then a PING at each deadline
// checks the server.
void sync(remote::self_pointer self, reply_target<done> reply) {
  auto& state = self->state;
  remote::give_all_back(self);
  remote::mark_purges(self);
  state.syncs.push_back(std::move(reply));
  if (remote::is_in_service(state) && !remote::has_read_purges(state)) remote::read_purges(self);
  remote::answer_syncs(state);
  if (state.syncs.empty()) return;
  state.config.server->hurry(true);
  remote::watch(self);
}

void probe_or_watch(remote::self_pointer self) {
  if (!remote::is_in_service(self->state))
    remote::probe(self);
  else if (!self->state.syncs.empty())
    remote::watch(self);
}

} // namespace

remote_tier_actor::behavior_type remote_tier(remote::self_pointer self, remote_tier_config config) {
  begin(self, std::move(config));
  return {
      [self](verb::get, const key_list& keys) {
        const shared_promise<lookup_list> reply(self->make_response_promise<lookup_list>());
        remote::look_up(self, keys, reply);
        return reply.promise();
      },
      [self](verb::insert, const cache_key& key, const artifact& value, std::uint64_t change) {
        remote::write(self, {remote_write::kind::insert, key, value, {}, {}, change});
      },
      [self](verb::put, const cache_key& key, const artifact& value, std::uint64_t change) {
        remote::write(self, {remote_write::kind::put, key, value, {}, {}, change});
      },
      [self](verb::erase, const cache_key& key, std::uint64_t change) {
        remote::write(self, {remote_write::kind::erase, key, {}, {}, {}, change});
      },
      [self](verb::promote, const cache_key& key, const artifact& value, std::uint64_t change) {
        remote::write_copy(self, key, value, change);
      },
      [self](verb::find_set, const cache_key& key) {
        const shared_promise<fleet_members> reply(self->make_response_promise<fleet_members>());
        remote::find_set(self, key, reply);
        return reply.promise();
      },
      [self](verb::merge, const cache_key& key, const set_change& change) {
        remote::change_set(self, key, change);
      },
      [self](verb::lock, const cache_key& key) {
        auto promise = self->make_response_promise<fleet_lease>();
        remote::take_lease(self, key, promise);
        return promise;
      },
      [self](verb::release, const cache_key& key) { remote::give_back(self, key); },
      [self](verb::begin) { remote::begin_purges(self); },
      [self](verb::hear) {
        auto promise = self->make_response_promise<done>();
        remote::hear_purges(self, promise);
        return promise;
      },
      [self](verb::take_reply) { remote::take_replies(self); },
      [self](verb::purge, const cache_key& key) { remote::purge_again(self, key); },
      [self](verb::clear) { remote::clear_again(self); },
      [self](verb::tell) { remote::tell_again(self); },
      [self](verb::listen) {
        self->state.log.timer_is_due = false;
        remote::await_purges(self);
      },
      [self](verb::ping) { probe_or_watch(self); },
      [self](verb::renew) { remote::renew_leases(self); },
      [self](verb::resend) { remote::retry_writes(self); },
      [self](verb::drain) {
        auto promise = self->make_response_promise<done>();
        sync(self, promise);
        return promise;
      },
      [self](verb::stats) { return remote::stats_of(self->state); },
  };
}

} // namespace hearth::actors
