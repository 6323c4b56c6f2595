// Stores that keep entries in files: Hearth's store, its cache handle, and the peers, behind one
// interface so that the same loop times them all.
//
// Each uses a directory of its own, which its destructor does not remove. One thread. Errors end
// the row: these throw `std::runtime_error`.
#pragma once

#include "bench/frame/dataset.hpp"
#include "messages/artifact.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace hearth::bench {

/// Size of a group of inserts, or the number of inserts in flight.
inline constexpr std::size_t group_size = 64;

class entry_store {
public:
  virtual ~entry_store() = default;
  /// Inserts every entry, in the data set's order; returns when all are acknowledged: they survive
  /// a kill of this process, not a power loss.
  virtual void insert_all(const dataset& data) = 0;
  /// Inserts one entry and waits until it is acknowledged.
  virtual void insert(const dataset& /*data*/, std::size_t /*entry*/) {
    throw std::runtime_error("single inserts into this store are not measured");
  }
  /// Called once between writing and reading, not timed.
  virtual void finish_pending_work() {}
  /// The value of an entry, copied into a block of its own. Empty: the store does not have it.
  virtual artifact get(const dataset& data, std::size_t entry) = 0;
};

/// Makes a store in an empty directory.
using store_maker =
    std::function<std::unique_ptr<entry_store>(const std::filesystem::path&, const dataset&)>;

/// Hearth's storage layer alone: groups of 64 over its shards, gets that verify while they copy.
std::unique_ptr<entry_store> make_hearth_store(const std::filesystem::path& directory,
                                               const dataset& data);
/// Hearth through the cache handle, without the memory tier: 64 inserts in flight.
std::unique_ptr<entry_store> make_hearth_handle(const std::filesystem::path& directory,
                                                const dataset& data);
/// LMDB, MDB_NOSYNC, 64 inserts a transaction (MDB_NOOVERWRITE); a get renews a read transaction,
/// which it needs to see the latest entries.
std::unique_ptr<entry_store> make_lmdb(const std::filesystem::path& directory, const dataset& data);
/// RocksDB with its log, not synced: a Put an entry; no compression, since the values cannot be
/// compressed. It is compacted before the reads.
std::unique_ptr<entry_store> make_rocksdb(const std::filesystem::path& directory,
                                          const dataset& data);
/// The same with a WriteBatch of 64, for inserts.
std::unique_ptr<entry_store> make_rocksdb_batch(const std::filesystem::path& directory,
                                                const dataset& data);
/// One file an entry, written under another name and renamed, in 256 folders.
std::unique_ptr<entry_store> make_files(const std::filesystem::path& directory,
                                        const dataset& data);

/// Copies `bytes` into a block of the kind that Hearth's gets return, as a peer's get must do.
artifact copied_out(std::string_view bytes);

} // namespace hearth::bench
