// The typed interface of every actor: the map of the system. docs/architecture.md describes which
// actor sends what to which.
//
// An operation that plain threads need has two forms: a request with an answer, for actors, and a
// message with a `completion` as its last argument, for the cache handle, whose threads have no
// mailbox.
#pragma once

#include "messages/caf_compat.hpp"
#include "messages/type_ids.hpp"
#include "messages/visibility.hpp"

#include <caf/result.hpp>

#include <chrono>
#include <string>

namespace HEARTH_PUBLIC hearth {

/// One shard of the memory tier: the only writer of its index, the in-flight table of loads, and
/// the compile leases of its keys.
using memory_shard_actor = actor_of<
    // Looks in memory, on disk, then in the remote tier; concurrent requests for a key share one
    // lookup.
    caf::result<lookup>(verb::get, cache_key), void(verb::get, cache_key, lookup_completion),
    // As above, for the items of a batch from the first index up to the second.
    void(verb::get, get_batch_ptr, std::uint64_t, std::uint64_t),
    // Inserts into every tier of the cache; the first writer wins.
    caf::result<insert_outcome>(verb::insert, cache_key, artifact),
    void(verb::insert, cache_key, artifact, insert_completion),
    // Inserts or replaces, in every tier.
    caf::result<done>(verb::put, cache_key, artifact),
    void(verb::put, cache_key, artifact, done_completion),
    // Removes the entry from every tier. Answers whether there was one.
    caf::result<bool>(verb::erase, cache_key), void(verb::erase, cache_key, flag_completion),
    // Another host replaced or removed the entry: removes it from memory and disk. Answers whether
    // there was one.
    caf::result<bool>(verb::purge, cache_key),
    // Entries that grow (messages/member_set.hpp). Answers with the set of the nearest of memory
    // and disk.
    caf::result<lookup>(verb::find_set, cache_key),
    // Asks the remote tier for the set, joins it with that of this host, and answers with the
    // union.
    caf::result<set_lookup>(verb::refresh, cache_key, set_limits),
    // Changes the set, in every tier of the cache.
    caf::result<set_reply>(verb::merge, cache_key, set_change),
    // Answers with the artifact, or with the lease to make it; waits while another caller makes it.
    caf::result<lease_reply>(verb::acquire, cache_key),
    void(verb::acquire, cache_key, lease_completion),
    // Answers with the lease, without looking for an entry: mutual exclusion by key, across
    // processes.
    caf::result<lease_reply>(verb::lock, cache_key),
    // Ends a lease: with the artifact for every waiter, ...
    caf::result<insert_outcome>(verb::fulfil, lease_id, artifact),
    void(verb::fulfil, lease_id, artifact, insert_completion),
    // ... with an error for every waiter, ...
    void(verb::abandon, lease_id, error),
    // ... or with nothing: the next waiter gets the lease.
    void(verb::release, lease_id),
    // A waiter for a lease on this key has given up: remove it.
    void(verb::withdraw, cache_key),
    // A caller's thread found an entry on disk: keep it in memory, unless the disk shard's epoch
    // moved.
    void(verb::promote, cache_key, artifact, std::uint64_t),
    // To itself: look again for leases that other processes hold, ...
    void(verb::poll_lease),
    // ... or for this one, which another host holds.
    void(verb::poll_fleet, cache_key),
    // To itself: show other processes that the holder of its leases lives.
    void(verb::beat),
    // To itself: give leases of their own to callers that have waited long enough.
    void(verb::end_waits),
    // To itself: send the queued lookups to the remote tier, in one message.
    void(verb::ask_remote),
    // To itself: retry the inserts that the disk refused.
    void(verb::persist),
    // To itself: free removed entries that no reader holds any more.
    void(verb::reclaim),
    // Answers with the entries in memory of the cache with this number.
    caf::result<entry_list>(verb::list, std::uint32_t),
    // Drops everything in memory.
    caf::result<done>(verb::clear), caf::result<memory_shard_stats>(verb::stats)>;

/// One shard of the disk tier: the only writer of its segments in this process. Runs on its own
/// thread, since it blocks.
using disk_shard_actor =
    actor_of<caf::result<lookup>(verb::load, cache_key),
             // The writes in the mailbox are collected and go to the store as one group.
             caf::result<disk_insert_reply>(verb::insert, cache_key, artifact),
             // As above, of a copy: it is not stored, and the answer is `exists`, if the host has
             // changed the entry after the change of this number.
             caf::result<disk_insert_reply>(verb::insert, cache_key, artifact, std::uint64_t),
             caf::result<disk_change_reply>(verb::put, cache_key, artifact),
             // A put that the disk has refused before, with its number: the answer is `exists`, and
             // nothing is stored, if the host has changed the entry after it.
             caf::result<disk_insert_reply>(verb::put, cache_key, artifact, std::uint64_t),
             caf::result<disk_change_reply>(verb::erase, cache_key),
             // Changes a set: joins it with what other processes have stored meanwhile.
             caf::result<set_reply>(verb::merge, cache_key, set_change),
             // Notes in the store how far the log of the fleet's purges was read, once these
             // purges have reached the disk.
             void(verb::heard, std::string),
             // Drops every entry of the store.
             caf::result<done>(verb::clear),
             // To itself: write the group.
             void(verb::write),
             // Answers when every earlier write is acknowledged.
             caf::result<done>(verb::drain)>;

/// The remote tier: its breaker, its write-behind queue, and this process's leases in the fleet.
using remote_tier_actor = actor_of<
    // Looks up within the deadline; answers in the order of the keys. Every failure is a miss, and
    // counted.
    caf::result<lookup_list>(verb::get, key_list),
    // Writes behind, in the order of arrival; insert keeps an existing entry. The number is that of
    // the change in the host's journal, which keeps it until the fleet has heard; for an insert,
    // that of the last change before it. Without a journal it is 0.
    void(verb::insert, cache_key, artifact, std::uint64_t),
    void(verb::put, cache_key, artifact, std::uint64_t),
    void(verb::erase, cache_key, std::uint64_t),
    // Inserts what a farther tier has. It takes no removed entry's place: the farther tier may not
    // have heard of the removal.
    void(verb::promote, cache_key, artifact, std::uint64_t),
    // Answers with the set of this key, within the deadline, ...
    caf::result<fleet_members>(verb::find_set, cache_key),
    // ... and changes it behind: adds the joined members, removes the removed ones.
    void(verb::merge, cache_key, set_change),
    // Asks for the fleet's lease on a key. The tier renews it until `release`, which gives it back
    // after the earlier writes.
    caf::result<fleet_lease>(verb::lock, cache_key), void(verb::release, cache_key),
    // The process's other actors are there: purges by other hosts are heard from now on.
    void(verb::begin),
    // Answers when the purges that other hosts made before this process began are applied, or
    // cannot be had.
    caf::result<done>(verb::hear),
    // To itself: replies have come, ...
    void(verb::take_reply),
    // ... wait for purges, or read those that were missed, ...
    void(verb::listen),
    // ... carry out a purge that the disk refused, of an entry or of everything, ...
    void(verb::purge, cache_key), void(verb::clear),
    // ... tell the fleet of changes that it has not heard of, ...
    void(verb::tell),
    // ... a probe is due, ...
    void(verb::ping),
    // ... leases have to be renewed, ...
    void(verb::renew),
    // ... writes that the server refused may be tried again.
    void(verb::resend),
    // Gives all leases back. Answers when all writes are acknowledged or none can be sent any more.
    caf::result<done>(verb::drain), caf::result<remote_tier_stats>(verb::stats)>;

/// Several remote tiers one behind the other, nearest first, as one.
using remote_chain_actor = remote_tier_actor::extend<
    // The tier of this number has heard of a purge by another host, which tells the logs of the
    // text: the nearer ones lose the entry too.
    caf::reacts_to<verb::purge, cache_key, std::uint64_t, std::string>>;

/// Runs programs, at most one for each worker at a time.
using compile_broker_actor = actor_of<
    // Runs an action; the number is its priority, higher first.
    caf::result<action_result>(verb::run, action_request, int),
    // Tries a kernel; the artifact is its shared object. One trial runs at a time.
    caf::result<trial_result>(verb::trial, trial_request, artifact, std::chrono::milliseconds),
    // The spans of work done since the last call.
    caf::result<span_list>(verb::trace), caf::result<broker_stats>(verb::stats)>;

/// One worker of the broker: runs one program at a time, on its own thread.
using compile_worker_actor =
    actor_of<caf::result<action_result>(verb::run, action_request),
             caf::result<trial_result>(verb::trial, trial_request, artifact,
                                       std::chrono::milliseconds)>;

/// Results of actions: found, or made by one run for all requests of this and other processes.
using action_cache_actor = actor_of<
    // Runs the action of this key unless its result is stored; the number is its priority. A
    // failure is sent to every current requester, and is stored only if the request says so.
    caf::result<action_reply>(verb::run, cache_key, action_request, int),
    void(verb::run, cache_key, action_request, int, action_completion),
    // A requester of this action has given up. When none is left, the run is killed.
    void(verb::withdraw, cache_key)>;

/// Entries with guards: several variants a key, the first whose guard holds is the hit.
using guarded_cache_actor =
    actor_of<caf::result<guarded_reply>(verb::get, cache_key, hints),
             // Adds a variant: a guard and an artifact.
             caf::result<insert_outcome>(verb::insert, cache_key, std::string, artifact)>;

/// The best configurations that tuning found, in a local and a remote cache.
using autotune_cache_actor = actor_of<
    // Answers with the best known of these candidates, from the nearest tier that knows one, or
    // `not_found`.
    caf::result<autotune_found>(verb::best, autotune_address, autotune_choices, tuning_notes),
    // Stores the record in every tier that the address has.
    caf::result<done>(verb::save, autotune_address, autotune_record, tuning_notes)>;

/// Bundles of tunings, one for each session, each an entry of the remote tier.
using autotune_bundler_actor = actor_of<
    // Begins a session, with the bundle's key and the local cache that receives the bundle's
    // entries.
    caf::result<bundle_session>(verb::begin, cache_key, named_cache_ptr),
    // Notes a tuning of the local cache, by its name there.
    void(verb::record, std::uint64_t, std::string, autotune_record),
    // Ends the session. Stores the bundle if the session found a tuning that the bundle did not
    // have.
    caf::result<bundle_end>(verb::finish, std::uint64_t),
    // Ends the session and stores nothing.
    void(verb::abandon, std::uint64_t)>;

/// Finds the entry of a tune request, or compiles, tries and stores it.
using kernel_tuner_actor = actor_of<caf::result<tune_reply>(verb::tune, tune_request_ptr)>;

/// The fuser's kernel cache: graphs, in TorchScript's text, and the kernels compiled for them.
using kernel_cache_actor = actor_of<
    // Saves a spec under the graph's normal text. Answers with its number, from 0. A graph that has
    // a spec keeps its first one; the new one is found by its number only.
    caf::result<std::int64_t>(verb::save, std::string, artifact),
    // Answers with the spec of this number, or a miss.
    caf::result<lookup>(verb::get, std::int64_t),
    // Finds the first kernel of a graph that differs from this one only in names and tensor types.
    // Answers with its number and spec, or -1 and a miss.
    caf::result<std::int64_t, lookup>(verb::find, std::string),
    // The number of kernels.
    caf::result<std::uint64_t>(verb::count)>;

/// Trees of values, one for each key. Paths are JSON pointers; values are in msgpack.
using nested_cache_actor = actor_of<
    // Answers with the value at a path, or the map of all values below it, or a miss.
    caf::result<lookup>(verb::find, cache_key, std::string),
    // Sets a value. Concurrent changes of one tree, by any process, are all kept.
    caf::result<done>(verb::put, cache_key, std::string, artifact)>;

/// Records the artifacts that sessions stored and hit, for bundles; any number of sessions may be
/// open.
using artifact_recorder_actor = actor_of<
    // Begins a session with a maximum of bytes and of artifacts. Answers with its number.
    caf::result<std::uint64_t>(verb::begin, std::uint64_t, std::uint64_t),
    // Notes an artifact of this type. A new note of an artifact replaces its earlier one; sets are
    // joined.
    void(verb::save, std::uint64_t, std::string, cache_key, artifact),
    // The number of artifacts noted.
    caf::result<std::uint64_t>(verb::count, std::uint64_t),
    // Ends the session. Answers with its notes.
    caf::result<recording>(verb::finish, std::uint64_t)>;

/// Every counter of the runtime, for the command line, Prometheus and the status page.
using metrics_actor = actor_of<
    // The current values. An actor that does not answer in time is left out, and counted.
    caf::result<metrics_page>(verb::stats)>;

} // namespace hearth
