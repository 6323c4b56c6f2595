// How one shard of a store is opened.
//
// A plain value, made by the store.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

namespace hearth::storage {
class file_system;
}

namespace hearth::storage::disk {

struct shard_config {
  file_system* system = nullptr;
  std::filesystem::path path; ///< for messages
  std::uint64_t store_id = 0;
  unsigned number = 0;
  unsigned shards = 1;
  std::uint64_t segment_bytes = 0;
  std::uint64_t budget_bytes = 0; ///< budget of this shard
  /// The range of a budget that follows the disk's free space; both 0: the budget is fixed.
  std::uint64_t min_budget_bytes = 0;
  std::uint64_t max_budget_bytes = 0;
  bool read_only = false;
  /// Read-only, but hits are noted in the index; refused, where it would be rebuilt in memory.
  bool notes_hits = false;
  bool compress = false;
  /// Called when `shard::catch_up` should run soon; empty: the writer's thread calls it itself.
  std::function<void()> work_due;
  std::chrono::milliseconds lock_deadline{2000};
  std::uint64_t boot = 0; ///< `boot_number` of the machine's present start
  bool was_clean = false; ///< the store's clean mark existed when the store was opened
};

/// The 48 bits of a start of the machine that a head holds; never 0, which marks an index that
/// cannot be trusted.
std::uint64_t boot_number(std::string_view boot_id) noexcept;

} // namespace hearth::storage::disk
