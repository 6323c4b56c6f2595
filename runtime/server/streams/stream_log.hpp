// The streams of a server's clients (XADD, XRANGE, XREAD). All namespaces share one sequence of
// ids, and each entry has its namespace: a client reads those of its own and of the trusted one,
// in one order. Any thread; owned by the server, shared by its sessions.
//
// Entries are in memory; a file keeps them too (stream_file). Changes happen one after the other,
// where `settings::run` lets them: they block on the file.
#pragma once

#include "messages/error.hpp"
#include "messages/log_level.hpp"
#include "runtime/server/streams/stream_file.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hearth::server {

struct stream_entry {
  stream_id id;
  std::vector<std::string> words; ///< names and values in turn
  std::uint64_t bytes = 0;        ///< that it takes
};
using stream_entry_ptr = std::shared_ptr<const stream_entry>;

/// A stream that is waited for, and the last entry of it that is known.
struct stream_place {
  stream_name at;
  stream_id after;
};

/// What a namespace may have.
struct stream_limits {
  std::size_t streams = 1024;
  std::uint64_t bytes = std::uint64_t{64} << 20;
  std::uint64_t entry_bytes = std::uint64_t{1} << 20;
};

struct stream_settings {
  std::filesystem::path file; ///< empty: the streams end with the process
  /// Runs a task that blocks, tasks one after the other; empty: at once.
  std::function<void(std::function<void()>)> run{};
  std::function<std::int64_t()> now_ms; ///< Unix time
  std::function<void(log_level, std::string_view)> log{};
  stream_limits limits{};
};

class stream_log : public std::enable_shared_from_this<stream_log> {
public:
  explicit stream_log(stream_settings settings);

  /// Reads the file. Called before the first client; blocks. Errors: those of `stream_file::open`;
  /// every later call tries again.
  expected<void> open();
  /// Makes what was acknowledged survive a power loss; blocks.
  expected<void> sync();

  /// Adds an entry under the next id, which is above all before it, and drops the oldest of the
  /// stream above `max_length`. Answers when it survives the end of the process, on the thread of
  /// `run`. Errors: `no_space` above a limit, those of the file.
  void append(stream_name at, std::vector<std::string> words,
              std::optional<std::uint64_t> max_length,
              std::function<void(expected<stream_id>)> answer);
  /// Drops a stream of this namespace alone. Answers whether there was one.
  void erase(stream_name at, std::function<void(expected<bool>)> answer);
  /// Drops all streams of a namespace and database.
  void erase_all(std::string name_space, unsigned database,
                 std::function<void(expected<void>)> answer);

  /// The entries of a range that a client of the name's namespace sees, at most `count`; from the
  /// last one where `is_backwards`. Errors: the file cannot be read now.
  expected<std::vector<stream_entry_ptr>> read(const stream_name& at, const stream_range& range,
                                               std::size_t count, bool is_backwards = false) const;
  /// How many entries that client sees.
  expected<std::size_t> length(const stream_name& at) const;
  /// The id of the last entry that it sees; 0-0: there is none.
  expected<stream_id> last_id(const stream_name& at) const;
  /// Whether there is a stream that it sees, or one of its own namespace.
  bool has(const stream_name& at) const;
  bool has_own(const stream_name& at) const;

  /// Calls `ready` once, from any thread or at once, when one of these streams has a later entry.
  /// Not any more once the result is gone. Keeps no thread.
  [[nodiscard]] std::shared_ptr<void> await(const std::vector<stream_place>& places,
                                            std::function<void()> ready);

  /// How many wait now.
  std::size_t waiting() const;

private:
  struct stream {
    std::deque<stream_entry_ptr> entries;
    stream_id cut; // entries up to this one are gone
  };
  using place_key = std::pair<unsigned, std::string>; // database and key
  struct waiter {
    std::vector<stream_place> places;
    std::function<void()> ready;
  };
  // The streams that a client of a namespace reads as one.
  struct view {
    const stream* own = nullptr;
    const stream* trusted = nullptr;
    stream_id cut;
  };

  template <class T, class Change>
  void change(Change work, std::function<void(expected<T>)> answer);
  expected<void> open_now();
  expected<void> store(const stream_record& record);
  expected<stream_id> append_now(stream_record record);
  expected<void> check_room(const stream_record& record, std::uint64_t bytes) const;
  stream_id next_id() const;
  std::vector<std::function<void()>> apply(const stream_record& record);
  void add(const stream_record& record);
  void drop_first(const std::string& name_space, stream& from);
  void drop_stream(std::map<stream_name, stream>::iterator at);
  std::vector<std::function<void()>> take_woken(const stream_name& at);
  void end_waiting(std::uint64_t number);
  void compact_if_large();
  std::vector<stream_record> snapshot() const;

  view view_of(const stream_name& at) const;
  bool has_later(const stream_place& place) const;
  expected<void> check_open() const;

  const stream_settings settings_;
  mutable std::mutex changes_;      // held by the one change that runs
  std::optional<stream_file> file_; // under changes_
  std::uint64_t compact_above_ = 0; // under changes_: after a failure, when to try again

  mutable std::mutex mutex_; // of all below, which only changes write
  std::optional<error> problem_;
  std::map<stream_name, stream> streams_;
  std::map<std::string, std::uint64_t> bytes_; // of each namespace's entries
  std::uint64_t live_bytes_ = 0;               // of all of them
  stream_id last_;
  std::map<std::uint64_t, waiter> waiters_;
  std::map<place_key, std::set<std::uint64_t>> waiting_at_;
  std::uint64_t last_waiter_ = 0;
};

} // namespace hearth::server
