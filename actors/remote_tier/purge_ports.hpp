// What the remote tier needs in order to drop what other hosts replaced or removed: who this
// process is in the log of purges, and where its copies are.
#pragma once

#include "actors/shard_router.hpp"
#include "messages/cache_id.hpp"
#include "messages/protocol.hpp"
#include "storage/disk/change_journal.hpp"
#include "storage/remote/purge_log.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hearth::actors {

struct purge_ports {
  storage::log_writer writer; ///< this process
  std::string mark;           ///< how far the store's processes have read the log
  /// The cache of this name and version as this process uses it, or one on disk only. Any thread.
  std::function<named_cache_ptr(const cache_id&)> cache_of;
  std::shared_ptr<storage::change_journal> journal; ///< null: this process changes nothing there
  /// The logs of this process's other tiers, as in `log_purge_command`; empty: there are none.
  std::string told{};
  /// Called before a purge by another host is carried out here, with the logs that its writer
  /// tells: the nearer tiers may hold the entry too. Empty: there are none.
  std::function<void(const cache_key&, const std::string& told)> passes_on{};
  shard_router shards;
  std::vector<disk_shard_actor> disk_shards; ///< empty: no store
};

} // namespace hearth::actors
