// One function a subject, which adds its rows; rows.cpp defines the order in which they run.
#pragma once

#include "bench/frame/row.hpp"

namespace hearth::bench {

void add_memory_rows(registry& all);        ///< mem.*: hits through the handle
void add_memory_index_rows(registry& all);  ///< the memory index by itself
void add_store_rows(registry& all);         ///< store.*: the storage layer alone
void add_disk_rows(registry& all);          ///< disk.*insert*, disk.get.*: through the handle
void add_binding_rows(registry& all);       ///< bind.*: hits from other languages
void add_open_rows(registry& all);          ///< disk.open.1M
void add_process_rows(registry& all);       ///< disk.procs
void add_stampede_rows(registry& all);      ///< stampede: actions
void add_guard_rows(registry& all);         ///< guard
void add_key_rows(registry& all);           ///< key.*: structural keys and toolchains
void add_bundle_rows(registry& all);        ///< bundle.*: artifacts carried in a file
void add_start_rows(registry& all);         ///< start.*: commands with little to do
void add_compile_rows(registry& all);       ///< cc.*, run.*: compiles by launchers
void add_remote_rows(registry& all);        ///< remote.connection
void add_remote_tier_rows(registry& all);   ///< remote.tier: the tier's actor alone
void add_remote_handle_rows(registry& all); ///< remote.get, stalled: through the handle
void add_serve_rows(registry& all);         ///< serve.*: `hearth serve`

/// All of them.
registry all_rows();

} // namespace hearth::bench
