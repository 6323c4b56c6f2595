// Rows that insert and get entries of one size: the same loops for the storage part alone
// (store_rows.cpp) and for the cache handle (disk_rows.cpp).
#pragma once

#include "bench/frame/row.hpp"
#include "bench/peers/entry_store.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::bench {

/// A contender and how it is made.
struct entry_contender {
  std::string name;
  store_maker make;
  std::size_t max_entries = SIZE_MAX; ///< of one whose turn would be too long with all of them
  bool reads = true;                  ///< false: it differs from another only in its inserts
  /// What it wrote is removed at the end of the row: ext4 searches long for an inode where many
  /// were given back within seconds, and the next turn would pay for that.
  bool removes_late = false;
};

/// Adds `<prefix>.insert.{512,16k,256k}` and `<prefix>.get.{512,16k,256k}`, Hearth first.
void add_entry_rows(registry& all, const std::string& prefix,
                    const std::vector<entry_contender>& contenders, const std::string& how);

} // namespace hearth::bench
