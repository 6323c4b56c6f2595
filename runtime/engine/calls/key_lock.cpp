#include "runtime/engine/calls/key_lock.hpp"

#include "runtime/engine/calls/logger_guard.hpp"

#include <optional>
#include <utility>

namespace hearth::engine {

key_lock::key_lock(std::shared_ptr<runtime_core> core, shutdown_gate::pass inside, cache_key at)
    : core_(std::move(core))
    , inside_(std::move(inside))
    , at_(std::move(at))
    , self_(std::make_unique<caf::scoped_actor>(core_->system())) {}

key_lock::~key_lock() {
  if (self_ && !core_->refusal())
    (*self_)->send(core_->shards().owner_of(at_), verb::release_v, lease_);
}

expected<key_lock> key_lock::take(std::shared_ptr<runtime_core> core, const cache_key& at) {
  auto inside = core->enter_system();
  if (!inside) return fail(inside.error());
  const logger_guard guard;
  key_lock made(std::move(core), std::move(*inside), at);
  std::optional<error> problem;
  (*made.self_)
      ->request(made.core_->shards().owner_of(at), caf::infinite, verb::lock_v, at)
      .receive([&](const lease_reply& reply) { made.lease_ = reply.lease.take(); },
               [&](const caf::error& why) { problem = from_caf(why); });
  if (problem) return fail(*problem);
  return made;
}

} // namespace hearth::engine
