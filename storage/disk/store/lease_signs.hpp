// Signs of life of lease holders: slots in the contents of the lease file (docs/store-format.md).
//
// Owner: one thread a table (a memory_shard actor). Processes write each other's slots over only
// when all slots of a window are taken; a holder notices this at its next beat.
#pragma once

#include "storage/disk/os/file_system.hpp"
#include "storage/disk/store.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace hearth::storage::disk {

/// One slot, as it is in the file.
struct lease_slot {
  std::uint64_t place = 0; ///< the locked byte plus one; 0: free
  std::uint32_t process = 0;
  std::uint32_t beats = 0;
  std::uint8_t stage = 0;
  std::array<std::uint8_t, 15> unused{};
};
static_assert(sizeof(lease_slot) == 32);

class lease_signs {
public:
  /// `fd` stays open as long as this object lives.
  lease_signs(file_system& files, int fd)
      : files_(files)
      , fd_(fd) {}

  /// Writes the holder's `beats`-th beat. A beat that cannot be written is dropped.
  void write(std::uint64_t place, std::uint32_t beats, lease_stage stage);
  /// Frees the slot of a lease that is released.
  void clear(std::uint64_t place);
  /// The last beat for this byte; empty: there is none. Returns 0, or a negative error of reading.
  int read(std::uint64_t place, std::optional<lease_holder>& found) const;

private:
  file_system& files_;
  int fd_;
};

} // namespace hearth::storage::disk
