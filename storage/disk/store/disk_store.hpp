// The implementation of `store`: its shards, its leases, its clean mark, and the thread that evicts
// and syncs in the background. store.hpp says which threads may call what.
#pragma once

#include "storage/disk/change_journal.hpp"
#include "storage/disk/files/clean_mark.hpp"
#include "storage/disk/shard/shard.hpp"
#include "storage/disk/store/store_directory.hpp"

#include <atomic>
#include <mutex>
#include <thread>

namespace hearth::storage::disk {

class disk_store final : public store {
public:
  static expected<std::unique_ptr<store>> open(store_options options);
  ~disk_store() override;

  unsigned shards() const noexcept override {
    return static_cast<unsigned>(current().shards.size());
  }
  unsigned shard_of(std::uint64_t hash) const noexcept override {
    return shard_of_hash(hash, shards());
  }
  read_result get(const entry_key& key) override;
  void touch(const entry_key& key) noexcept override;
  void note_unpersisted(unsigned number) noexcept override;
  std::uint64_t epoch(unsigned number) const noexcept override;
  const epoch_place& place_of_epoch(unsigned number) const noexcept override {
    return epoch_places_[number];
  }
  std::uint64_t apply(unsigned number, std::span<write_request> group) override;
  expected<void> flush() override;
  expected<std::unique_ptr<lease_table>> open_leases() override;
  expected<void> list(const std::function<bool(const entry_info&)>& visit) override;
  expected<std::optional<scan_place>>
  scan(const scan_place& from, const std::function<bool(const entry_info&)>& visit) override;
  store_stats stats() const override;
  expected<verify_report> verify(bool repair, const progress_callback& progress) override;
  expected<std::uint64_t> evict_to(std::uint64_t bytes, const progress_callback& progress) override;
  expected<void> clear() override;
  expected<std::unique_ptr<change_journal>> open_journal(std::string_view fleet) override;
  std::uint64_t id() const noexcept override { return id_; }
  std::string fleet_mark() const override;
  expected<void> set_fleet_mark(std::string_view mark) override;

private:
  // The thread that evicts and syncs; on the heap, since a forked child must not destroy it.
  struct background_work {
    std::shared_ptr<sync_timer> timer;
    std::atomic<bool> stopping{false};
    std::thread thread;
  };

  // One opening of the directory. When another process removes the directory, the store opens it
  // again; the former opening stays, for threads that still read in it.
  struct opening {
    opening(file_system& files, store_directory opened)
        : directory(std::move(opened))
        , mark(files, directory.folder.get(), directory.path) {}

    store_directory directory;
    clean_mark mark;
    std::unique_ptr<unshared_file> session; // holds a shared lock: this process may write
    std::vector<std::unique_ptr<shard>> shards;
  };

  explicit disk_store(store_options options);
  expected<std::unique_ptr<opening>> open_once();
  expected<void> join_session(opening& one) const;
  expected<void> open_shards(opening& one) const;
  shard_config config_of(const opening& one, unsigned number, std::uint64_t budget) const;
  std::uint64_t choose_budget(const file& folder) const;
  /// Opens the directory again if the shard's is no longer in place. False: it is in place, or
  /// cannot be opened.
  bool reopen_after_removal(unsigned number);
  void publish(opening& one);
  opening& current() const noexcept { return *current_.load(std::memory_order_acquire); }
  shard& shard_at(unsigned number) const noexcept { return *current().shards[number]; }
  expected<void> begin_background_work();
  void evict_and_sync();
  void close() noexcept;
  bool was_synced_lately() const noexcept;
  bool is_forked() const noexcept { return fork_generation() != born_; }
  std::vector<std::uint64_t> taken() const; // bytes of disk, by shard

  store_options options_;
  file_system& files_;
  const std::uint64_t born_;
  std::uint64_t id_ = 0;
  std::atomic<opening*> current_{nullptr};
  std::vector<epoch_place> epoch_places_; // places in `current_`, one a shard
  std::mutex opening_mutex_;              // protects `openings_`
  std::vector<std::unique_ptr<opening>> openings_;
  std::unique_ptr<background_work> background_;
};

} // namespace hearth::storage::disk
