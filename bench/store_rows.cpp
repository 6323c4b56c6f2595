// store.*: the storage part alone beside LMDB, RocksDB and a file an entry.
#include "bench/entry_rows.hpp"
#include "bench/rows.hpp"

namespace hearth::bench {

void add_store_rows(registry& all) {
  add_entry_rows(all, "store",
                 {{"hearth", make_hearth_store},
                  {"lmdb", make_lmdb},
                  {"rocksdb", make_rocksdb},
                  {"files", make_files, 4'000}},
                 "the storage part alone, groups of 64");
}

} // namespace hearth::bench
