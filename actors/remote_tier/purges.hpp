// The purges of the fleet, as this process takes them in: it reads the log when the server is
// reached, before it serves an entry of its disk or sends a write, and waits for what comes then.
// On the tier's thread.
#pragma once

#include "actors/remote_tier/common.hpp"
#include "storage/remote/purge_log.hpp"

#include <optional>
#include <string>

namespace hearth::actors::remote {

/// Whether writes may be sent: the log was read since the server was reached last, or there is
/// none.
bool has_read_purges(const state_type& state);
/// Whether puts and erases are to be logged.
bool logs_purges(const state_type& state);
/// Whether this process, of a host that passes purges on to nearer tiers, still reads what the host
/// needs its first mark for. It does not end before: what is purged later is passed on.
bool awaits_first_mark(const state_type& state);

/// Called when the process's other actors are there: reads the log.
void begin_purges(self_pointer self);
/// Reads what was logged since the last read, then lets the writes go on.
void read_purges(self_pointer self);
/// Answers when the first read has ended, or failed.
void hear_purges(self_pointer self, reply_target<done> reply);
/// Waits for purges, or reads the log if an earlier read failed.
void await_purges(self_pointer self);
/// Drops this host's copies of an entry.
void drop_copies(self_pointer self, const cache_key& key);
/// Carries out a purge that failed, of an entry or of everything.
void purge_again(self_pointer self, const cache_key& key);
void clear_again(self_pointer self);
/// Notes in the store how far the log was read and its purges applied.
void mark_purges(self_pointer self);
/// The connection may have been lost: the log has to be read again before writes go on.
void forget_purges(state_type& state);

/// Called when a put or erase has ended: logged at `place`, or without one when it was lost. A
/// purge by another host that came meanwhile counts if it is later, and in a cluster, whose log
/// does not tell which is later. Returns whether there was one that does not.
bool end_purge(self_pointer self, const cache_key& key, std::optional<storage::log_place> place);
/// Keeps an insert in flight that found this mark of a removed entry until the log is read: it is
/// sent again, unless the entry was purged after it was made.
void await_verdict(self_pointer self, const cache_key& key, storage::write_behind::number which,
                   std::string mark);
/// Called when the server does not take the log's commands.
void go_without_log(self_pointer self, const remote_reply& why);
/// A mark for a removal by this process.
std::string new_mark(state_type& state);
/// Whether the reply says that the server lacks the log's commands, or does not let us use them.
bool lacks_log(const remote_reply& reply);

} // namespace hearth::actors::remote
