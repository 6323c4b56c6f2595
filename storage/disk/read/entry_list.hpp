// Lists the live entries of a shard, all at once or bucket by bucket.
//
// Free functions; any thread, without the lock: other threads and processes may write meanwhile.
#pragma once

#include "messages/error.hpp"
#include "storage/disk/files/shard_files.hpp"
#include "storage/disk/store.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace hearth::storage::disk {

/// Calls `visit` for each entry until it returns false; then sets `go_on` to false.
expected<void> list_entries(shard_files& files, const std::function<bool(const entry_info&)>& visit,
                            bool& go_on);

/// The entries that have expired and still have a slot.
expected<std::vector<entry_info>> expired_entries(shard_files& files);

/// One step of `store::scan` in this shard; nothing at the shard's end.
expected<std::optional<scan_place>>
scan_entries(shard_files& files, const scan_place& from,
             const std::function<bool(const entry_info&)>& visit);

} // namespace hearth::storage::disk
