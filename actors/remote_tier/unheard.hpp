// The changes of this host that the fleet has not heard of. While there are any, the server may
// hold what this host has replaced or removed: it is not asked for these entries. On the tier's
// thread.
#pragma once

#include "actors/remote_tier/common.hpp"
#include "storage/remote/purge_log.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace hearth::actors::remote {

/// Looks for changes of other processes of this host, and takes over those of processes that have
/// ended, if the host has noted any since the last look.
void look_for_unheard(self_pointer self);
/// Whether the server may hold an old value of an entry.
enum class unheard_state : std::uint8_t {
  none,    ///< it does not
  changed, ///< this host has changed the entry: it has what counts
  unknown, ///< this host may have changed the entry
};
unheard_state unheard_of(self_pointer self, const cache_key& key);
/// Another host has purged the entry. True: it stays here for now, since this host will tell of a
/// put that comes later.
bool outlives_purge(self_pointer self, const cache_key& key);

using write_number = storage::write_behind::number;
using outliving_put = state_type::unheard_record::outliving_put;
/// The put of this host of which a write tells: by its value, or, if that is gone, by an erase in
/// its place. Nothing for other writes.
std::optional<outliving_put> told_put(const state_type& state, const storage::remote_write& write);
/// A put of this host outlived a purge and is told. But the disk may have refused it, and hold what
/// was there before: then the purge counts, unless this host has changed the entry since.
void drop_unless_put(self_pointer self, const cache_key& key, const outliving_put& put);

/// Whether another process of this host has replaced or removed the entry since this write was
/// made, or the fleet was to be told again of what the store holds.
bool is_overtaken(const state_type& state, const storage::remote_write& write);
/// Whether the fleet has heard of a later change of this host than this write's.
bool was_told_since(const state_type& state, const storage::remote_write& write);
/// Whether this host has changed the entry after that change of its own, as far as this process
/// knows: it was told, or is on its way.
bool has_changed_since(const state_type& state, const cache_key& key,
                       const storage::logged_change& change);
/// Called for each put and erase that arrives: whole caches are told of as such.
void note_change(self_pointer self, storage::remote_write& write);
/// The server has acknowledged a put or erase: earlier changes of the entry by other processes of
/// this host need not be told.
void note_told(const state_type& state, const storage::remote_write& write);
/// What the log tells of a write's change; nothing: no journal has it, or none that outlives this
/// process.
std::optional<storage::logged_change> logged_change_of(const state_type& state,
                                                       const storage::remote_write& write);
/// A purge of the entry was read in the log. A change that a process of this host has left may be
/// there before it: that process ended before it had noted so, or a power loss took the note.
/// Behind it another change ends it: returns whether this one did.
bool note_logged(state_type& state, const cache_key& key, const storage::logged_purge& purge);
/// The fleet has heard of a put or erase, or never has to.
void settle_change(state_type& state, const storage::remote_write& write);
/// A put or erase is given up: it has to be told again.
void keep_change(self_pointer self, const storage::remote_write& write);
/// A put has to be told only if the store still has its value: another process may have changed the
/// entry since. Otherwise the fleet is told of an erase, since what it holds may be the put.
/// `which` was its number in the queue: a later put or erase there tells more.
void tell_put(self_pointer self, const storage::remote_write& write, write_number which);
/// Called when the fleet has a put that another process may have overtaken.
void check_put(self_pointer self, const storage::remote_write& write, write_number which);
/// Whether that is being found out for this entry. The server is not asked for it meanwhile.
bool is_checked(const state_type& state, const cache_key& key);
/// Before an insert of an entry that may have an older value on the server: that value goes first.
/// False: the insert is not sent, since what the server has may also be later, which the log has
/// yet to show, or is removed soon.
bool erase_before(self_pointer self, const cache_key& key);

/// Called when the server was reached: looks for changes, and removes whole caches from the server,
/// then calls `next`.
void meet_unheard(self_pointer self, std::function<void()> next);
/// Queues what the fleet has not heard of. The log of purges has been read.
void tell_unheard(self_pointer self);
/// The queue is empty: what was told of whole caches is settled.
void settle_whole_caches(state_type& state);
/// Looks again, and tells again.
void tell_again(self_pointer self);

} // namespace hearth::actors::remote
