// disk_shard: the only writer, in this process, of one shard of the disk store.
//
// It blocks, so it has a thread of its own (`on_own_thread`; in tests it has not), for which a
// caller that waits stands in. The writes in its mailbox go to the store as one group: one lock and
// one write for many inserts.
#pragma once

#include "actors/ports/log_sink.hpp"
#include "messages/protocol.hpp"
#include "storage/disk/change_journal.hpp"
#include "storage/disk/store.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <memory>
#include <variant>
#include <vector>

namespace hearth::actors {

struct disk_shard_state {
  static inline const char* name = "disk_shard";

  using insert_promise = caf::typed_response_promise<disk_insert_reply>;
  using change_promise = caf::typed_response_promise<disk_change_reply>;

  /// A write that waits for its group.
  struct pending_write {
    storage::write_kind kind;
    cache_key key;
    artifact value;
    std::variant<insert_promise, change_promise> promise;
    /// Stored only if the host has not changed the entry after the change `last_change`.
    bool is_conditional = false;
    std::uint64_t last_change = 0;
  };

  disk_shard_state() = default;
  disk_shard_state(const disk_shard_state&) = delete;
  disk_shard_state& operator=(const disk_shard_state&) = delete;
  /// Answers the writes that are left with `closed`; CAF sends nothing when a promise is dropped.
  ~disk_shard_state();

  std::shared_ptr<storage::store> store;
  unsigned shard = 0;
  std::shared_ptr<const storage::change_journal> journal; ///< null: no remote tier
  log_sink log;
  std::vector<pending_write> pending; ///< writes of the next group
  bool group_is_due = false;          ///< a `write` message is in the mailbox
  bool failure_was_logged = false;    ///< a full disk logs one line, not one for each insert
};
using disk_shard_pointer = disk_shard_actor::stateful_pointer<disk_shard_state>;

/// The actor that writes `shard` of `store`. `journal`: of the host's changes, or null.
disk_shard_actor::behavior_type disk_shard(disk_shard_pointer self,
                                           std::shared_ptr<storage::store> store, unsigned shard,
                                           std::shared_ptr<const storage::change_journal> journal,
                                           log_sink log);

} // namespace hearth::actors
