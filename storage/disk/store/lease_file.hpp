// The leases of a store: locks on single bytes of one file, by open file description. A process
// that dies loses its leases with its descriptors.
//
// Owner: one thread a table (a memory_shard actor).
#pragma once

#include "storage/disk/os/fork_watch.hpp"
#include "storage/disk/store.hpp"
#include "storage/disk/store/lease_signs.hpp"

#include <filesystem>
#include <unordered_map>

namespace hearth::storage::disk {

class lease_file final : public lease_table {
public:
  /// Opens a table with a file description of its own for the file `leases` in this directory.
  static expected<std::unique_ptr<lease_table>> open(file_system& files, int directory,
                                                     const std::filesystem::path& path);
  lease_file(file_system& files, file opened, std::filesystem::path path)
      : files_(files)
      , file_(std::move(opened))
      , path_(std::move(path))
      , signs_(files, file_.get())
      , born_(fork_generation()) {}

  expected<bool> try_acquire(std::uint64_t hash) override;
  void release(std::uint64_t hash) override;
  void beat(std::uint64_t hash, lease_stage stage) override;
  expected<std::optional<lease_holder>> holder(std::uint64_t hash) const override;

private:
  file_system& files_;
  unshared_file file_;
  std::filesystem::path path_;
  lease_signs signs_;
  const std::uint64_t born_;
  // The leases that this table holds, with the number of their beats. The system lets one
  // description lock a byte twice.
  std::unordered_map<std::uint64_t, std::uint32_t> held_;
};

} // namespace hearth::storage::disk
