// For hosts that are actors: a cache as typed actors to send requests to. The only public header of
// the handle that includes CAF.
//
//   const auto to = hearth::address(cache, key).value();
//   self->request(to.owner, 1s, hearth::verb::get_v, to.key)
//       .then([](const hearth::lookup& found) { ... }, [](const caf::error& why) { ... });
//
// The host's actor system must know Hearth's message types (`add_message_types`). Errors in replies
// are Hearth's: `from_caf` converts them back.
//
// A `lease_reply` offers a lease: the receiver calls `reply.lease.take()` and must end the lease
// with fulfil, abandon or release. An offer that is not taken, for instance because the request
// timed out, gives the lease back when its message is destroyed. When an actor that holds a lease
// dies, the next waiter gets it at once.
#pragma once

#include "messages/protocol.hpp"
#include "messages/visibility.hpp"
#include "runtime/handle/cache.hpp"

namespace HEARTH_PUBLIC hearth {

/// The requests that the owner of a key answers.
using cache_actor = actor_of<
    // Looks in memory, on disk, then in the remote tier.
    caf::result<lookup>(verb::get, cache_key),
    // Inserts; the first writer wins.
    caf::result<insert_outcome>(verb::insert, cache_key, artifact),
    // Inserts or replaces.
    caf::result<done>(verb::put, cache_key, artifact),
    // Drops the entry; answers whether there was one.
    caf::result<bool>(verb::erase, cache_key),
    // Answers with the artifact or with the lease to make it; waits while another holder makes it.
    caf::result<lease_reply>(verb::acquire, cache_key),
    // End a lease: with the artifact or an error for all waiters, or by a release, after which the
    // next waiter gets the lease.
    caf::result<insert_outcome>(verb::fulfil, lease_id, artifact),
    void(verb::abandon, lease_id, error), void(verb::release, lease_id)>;

/// The actor that owns a key, and the key as messages name it.
struct key_address {
  cache_actor owner;
  cache_key key;
};

/// Errors: `invalid_key`; `forked` and `closed` when no actor would answer.
expected<key_address> address(const cache& in, const key& k);

/// Looks up many keys by messages only, one per shard: for a caller that must not read the disk
/// itself, such as an actor.
future<lookup_list> get_by_message(const cache& in, std::span<const key> keys,
                                   const call_options& options = {});

} // namespace hearth
