// Lists the live entries of a shard.
//
// A free function; any thread, without the lock: others may write meanwhile.
#pragma once

#include "messages/error.hpp"
#include "storage/disk/files/shard_files.hpp"
#include "storage/disk/store.hpp"

#include <functional>

namespace hearth::storage::disk {

/// Calls `visit` for each entry until it returns false; then `go_on` is false too.
expected<void> list_entries(shard_files& files, const std::function<bool(const entry_info&)>& visit,
                            bool& go_on);

} // namespace hearth::storage::disk
