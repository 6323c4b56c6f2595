// Lists the live entries of a shard.
//
// A free function; any thread, without the lock: other threads and processes may write meanwhile.
#pragma once

#include "messages/error.hpp"
#include "storage/disk/files/shard_files.hpp"
#include "storage/disk/store.hpp"

#include <functional>

namespace hearth::storage::disk {

/// Calls `visit` for each entry until it returns false; then sets `go_on` to false.
expected<void> list_entries(shard_files& files, const std::function<bool(const entry_info&)>& visit,
                            bool& go_on);

} // namespace hearth::storage::disk
