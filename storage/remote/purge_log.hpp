// The log of a fleet's purges: a stream on the server, to which a host appends every entry that it
// replaces or removes. The other hosts read it, and drop their copies. Pure functions over plain
// data, any thread. docs/remote-format.md describes the format.
#pragma once

#include "messages/cache_key.hpp"
#include "storage/remote/commands.hpp"
#include "storage/remote/entry_names.hpp"
#include "storage/resp/resp_value.hpp"

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::storage {

/// About as many purges the log keeps; a host that has missed more drops everything.
inline constexpr std::size_t max_logged_purges = 10'000;
/// Purges that one reply carries at most.
inline constexpr std::size_t max_read_purges = 1'000;

/// The place of a purge in the log: the number that the server gave it.
struct log_place {
  std::uint64_t time = 0;
  std::uint64_t number = 0;
  friend auto operator<=>(const log_place&, const log_place&) = default;
};
/// "1730-0"
std::string to_string(const log_place& place);
std::optional<log_place> log_place_of(std::string_view text);

/// Who writes to the log: a process, and the store that it shares with others of its host.
struct log_writer {
  std::string store; ///< without a store as `process`
  std::string process;
  friend bool operator==(const log_writer&, const log_writer&) = default;
};

/// A change in a journal of the writer's store (`change_journal`).
struct logged_change {
  std::uint64_t journal = 0; ///< its id
  std::uint64_t number = 0;
  friend bool operator==(const logged_change&, const logged_change&) = default;
};

/// An entry that a host replaced or removed.
struct logged_purge {
  log_place place;
  log_writer writer;
  bool is_put = false;   ///< replaced: the writer's store has the new value
  bool is_whole = false; ///< a whole cache: no key
  std::string cache;
  std::string version;
  std::string key;  ///< its msgpack bytes
  std::string told; ///< the other logs that the writer tells, as in `log_purge_command`
  std::optional<logged_change> change; ///< nothing: it is in no journal
};

/// PREFIX:purges
std::string purge_log_name(std::string_view prefix);
/// Bytes of a mark, which stands in place of a removed entry for a day, so that an insert that was
/// sent late does not bring the entry back.
inline constexpr std::size_t removed_mark_bytes = 47;
/// The mark of a removal. `which`: text that no other removal has.
std::string removed_mark(std::string_view which);
/// Whether the start of a value, one byte more than a mark has, is a mark.
bool is_removed_mark(std::string_view start);

/// Puts a mark in place of an entry.
remote_command remove_command(std::string name, std::string mark);
/// Stores an entry in place of this mark, if it is still there. Reply: 1; 0 when something else is.
remote_command replace_mark_command(std::string name, std::string mark, std::string bytes,
                                    std::chrono::milliseconds ttl);
/// Appends a purge. Reply: its place.
/// `told`: the other logs to which the same purge goes, `name_of_log` with blanks between them.
remote_command log_purge_command(std::string log, const log_writer& writer, bool is_put,
                                 const cache_key& key, const std::string& told = {},
                                 const std::optional<logged_change>& change = {});
/// Appends a purge of a whole cache. Reply: its place.
remote_command log_clear_command(std::string log, const log_writer& writer, const cache_id& cache);
/// Looks for entries of a cache from a cursor on, "0" at first. Reply: for `found_entries`.
remote_command find_entries_command(const remote_naming& naming, const cache_id& cache,
                                    std::string cursor);
/// Names of entries, which may repeat, and the cursor to go on with; "0" at the end.
struct found_names {
  std::string cursor;
  std::vector<std::string> names;
  std::vector<std::string> sets; ///< names of entries that grow
};
/// The entries of this cache in a reply. Nothing: the reply is of another form.
std::optional<found_names> found_entries(const resp_value& reply, const remote_naming& naming,
                                         const cache_id& cache);

/// Reads the log from a place on, including it. Reply: for `logged_purges`.
remote_command read_log_command(std::string log, const log_place& from);
/// Reads the last purge. Reply: for `logged_purges`.
remote_command last_of_log_command(std::string log);
/// Waits for a purge after a place. Reply: for `awaited_purges`.
remote_command await_log_command(std::string log, const log_place& after);

/// The purges in a reply, in the order of their places; those that no host of this format wrote
/// have no cache. Nothing: the reply is of another form, or in no order.
std::optional<std::vector<logged_purge>> logged_purges(const resp_value& reply);
std::optional<std::vector<logged_purge>> awaited_purges(const resp_value& reply);

/// The name of a server's log among those that a host knows, as it stands in marks and in logs.
std::string name_of_log(std::string_view server, std::string_view log);
/// How far a log was read, as text for the store: which log, and its last place.
std::string log_mark(std::string_view server, std::string_view log, const log_place& place);
/// The marks of a store with this one in place of the earlier mark of its log. A store keeps those
/// of the 16 logs that were marked last.
std::string add_mark(std::string_view marks, std::string_view mark);
/// The place of a log in the marks of a store; nothing when there is none, or a damaged one.
std::optional<log_place> place_in_marks(std::string_view marks, std::string_view server,
                                        std::string_view log);

} // namespace hearth::storage
