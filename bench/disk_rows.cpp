// disk.insert.*, disk.get.*: through the cache handle, without the memory tier, against the same
// peers as store.*.
#include "bench/entry_rows.hpp"
#include "bench/rows.hpp"

namespace hearth::bench {

void add_disk_rows(registry& all) {
  add_entry_rows(all, "disk",
                 {{"hearth", make_hearth_handle}, {"lmdb", make_lmdb}, {"rocksdb", make_rocksdb}},
                 "through the cache handle without its memory tier");
}

} // namespace hearth::bench
