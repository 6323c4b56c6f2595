// Rows that insert and get entries of one size: the same loops for the storage part alone
// (store_rows.cpp) and for the cache handle (disk_rows.cpp).
#pragma once

#include "bench/frame/row.hpp"
#include "bench/peers/entry_store.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::bench {

/// A contender and its factory.
struct entry_contender {
  std::string name;
  store_maker make;
  std::size_t max_entries = SIZE_MAX; ///< limit for a contender whose turn would be too long
  bool reads = true;                  ///< false: only its inserts differ from another's
  /// Removes the files of a turn at the end of the row: ext4 searches long for an inode where many
  /// were freed within seconds, which would slow the next turn.
  bool removes_late = false;
};

/// Adds `<prefix>.insert.{512,16k,256k}` and `<prefix>.get.{512,16k,256k}`, Hearth first.
void add_entry_rows(registry& all, const std::string& prefix,
                    const std::vector<entry_contender>& contenders, const std::string& how);

} // namespace hearth::bench
