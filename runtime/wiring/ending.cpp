#include "runtime/wiring/ending.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace hearth::wiring {
namespace {

// Calls `next` once all of `asked` have answered or failed.
template <class Reply, class Handle, class Verb>
void ask_all(caf::event_based_actor* self, const std::vector<Handle>& asked, Verb verb,
             caf::duration deadline, const std::function<void()>& next) {
  if (asked.empty()) return next();
  const auto open = std::make_shared<std::size_t>(asked.size());
  const auto answered = [open, next] {
    if (--*open == 0) next();
  };
  for (const auto& one : asked)
    self->request(one, deadline, verb)
        .then([answered](const Reply&) { answered(); },
              [answered](const caf::error&) { answered(); });
}

struct drain_config {
  tier_actors tiers;
  caf::duration remote_deadline;
  std::function<void()> drained;
};

// Mailboxes are in order: a shard that answers has passed on all earlier requests.
caf::behavior drain(caf::event_based_actor* self, const drain_config& config) {
  const auto& tiers = config.tiers;
  const auto finish = [self, drained = config.drained] {
    drained();
    self->quit();
  };
  // The remote tier has told a disk shard how far it has heard: the store keeps that.
  const auto keep_marks = [=] {
    ask_all<done>(self, tiers.disk_shards, verb::drain_v, caf::infinite, finish);
  };
  const auto send_writes = [=, remote_deadline = config.remote_deadline] {
    if (!tiers.remote) return finish();
    ask_all<done>(self, std::vector{tiers.remote}, verb::drain_v, remote_deadline, keep_marks);
  };
  // Asked again: now the shards have answered the writes that the disk acknowledged, and passed
  // them on to the remote tier.
  const auto pass_shards_again = [=] {
    ask_all<memory_shard_stats>(self, tiers.shards.all(), verb::stats_v, caf::infinite,
                                send_writes);
  };
  const auto sync_disk = [=] {
    ask_all<done>(self, tiers.disk_shards, verb::drain_v, caf::infinite, pass_shards_again);
  };
  ask_all<memory_shard_stats>(self, tiers.shards.all(), verb::stats_v, caf::infinite, sync_disk);
  return {[](verb::clear) {}}; // stays until it quits
}

} // namespace

caf::actor spawn_drain(caf::actor_system& system, const tier_actors& tiers,
                       caf::duration remote_deadline, std::function<void()> drained) {
  return system.spawn(drain, drain_config{tiers, remote_deadline, std::move(drained)});
}

void end_actor(const caf::actor& actor) {
  if (actor)
    caf::anon_send<caf::message_priority::high>(actor,
                                                caf::exit_msg{{}, caf::exit_reason::user_shutdown});
}

void end_actors(caf::actor_system& system, const std::vector<caf::actor>& all) {
  for (const auto& actor : all)
    end_actor(actor);
  caf::scoped_actor self{system};
  self->wait_for(all);
}

} // namespace hearth::wiring
