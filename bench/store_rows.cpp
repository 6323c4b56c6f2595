// store.*: the storage layer alone, against LMDB, RocksDB and one file an entry.
#include "bench/entry_rows.hpp"
#include "bench/rows.hpp"

namespace hearth::bench {

void add_store_rows(registry& all) {
  add_entry_rows(all, "store",
                 {{"hearth", make_hearth_store},
                  {"lmdb", make_lmdb},
                  {"rocksdb", make_rocksdb},
                  {"rocksdb_batch", make_rocksdb_batch, SIZE_MAX, false},
                  {"files", make_files, 1'000, true, true}},
                 "the storage part alone");
}

} // namespace hearth::bench
