#include "storage/disk/disk_store.hpp"

#include "storage/disk/errors.hpp"
#include "storage/disk/lease_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace hearth::storage {

expected<std::unique_ptr<store>> store::open(store_options options) {
  return disk::disk_store::open(std::move(options));
}

namespace disk {
namespace {

constexpr std::uint64_t default_budget_bytes = std::uint64_t{10} << 30;
constexpr std::uint64_t min_budget_bytes = std::uint64_t{1} << 20;
constexpr unsigned default_shards = 4;
constexpr std::uint64_t segments_a_shard = 8;
constexpr std::uint64_t smallest_chosen_segment = std::uint64_t{1} << 20;

// The shape of a new store. A budget too small for four shards of eight segments has fewer shards.
store_shape shape_for(const store_options& options) {
  const auto budget = options.budget_bytes ? options.budget_bytes : default_budget_bytes;
  const auto cores = std::max(1u, std::thread::hardware_concurrency());
  const auto fit = static_cast<unsigned>(std::clamp<std::uint64_t>(
      budget / (segments_a_shard * smallest_chosen_segment), 1, default_shards));
  store_shape shape;
  shape.shards = options.shards ? std::min(options.shards, 256u) : std::min(fit, cores);
  const auto segment = options.segment_bytes ? options.segment_bytes
                                             : std::max(budget / shape.shards / segments_a_shard,
                                                        smallest_chosen_segment);
  shape.segment_bytes =
      std::clamp(segment / page_bytes * page_bytes, min_segment_bytes, max_segment_bytes);
  return shape;
}

} // namespace

disk_store::disk_store(store_options options, store_directory directory)
    : options_(std::move(options))
    , files_(options_.files ? *options_.files : real_file_system())
    , directory_(std::move(directory))
    , born_(fork_generation())
    , mark_(files_, directory_.folder.get(), directory_.path) {}

expected<std::unique_ptr<store>> disk_store::open(store_options options) {
  auto& files = options.files ? *options.files : real_file_system();
  if (options.directory.empty()) return fail(errc::invalid_argument, "a store needs a directory");
  auto directory =
      open_store_directory(files, options.directory, shape_for(options), options.read_only);
  if (!directory) return fail(directory.error());
  std::unique_ptr<disk_store> opened(new disk_store(std::move(options), std::move(*directory)));
  const auto boot = files.boot_id();
  // Never 0, which means: not to be trusted.
  opened->boot_ = (hash_bytes(boot) & head_value_mask) | 1;
  if (auto joined = opened->join_session(); !joined) return fail(joined.error());
  if (auto shards = opened->open_shards(); !shards) return fail(shards.error());
  opened->start_syncing();
  return opened;
}

disk_store::~disk_store() { close(); }

expected<void> disk_store::join_session() {
  if (!options_.read_only) {
    session_ = std::make_unique<unshared_file>(std::move(directory_.description_file));
    const bool joined = retry_until(options_.lock_deadline,
                                    [&] { return files_.try_lock(session_->get(), false) == 0; });
    if (!joined)
      return fail(errc::busy, "cannot lock " + (directory_.path / "store").string() +
                                  ": another process is closing the store; try again");
  }
  was_clean_ = mark_.exists();
  budget_bytes_ = choose_budget();
  return {};
}

std::uint64_t disk_store::choose_budget() const noexcept {
  if (options_.budget_bytes != 0) return std::max(options_.budget_bytes, min_budget_bytes);
  const auto tenth = files_.free_bytes(directory_.folder.get()) / 10;
  return std::max(std::min(default_budget_bytes, tenth), min_budget_bytes);
}

shard_config disk_store::config_of(unsigned number) const {
  shard_config config;
  config.files = &files_;
  config.path = directory_.path / "shards" / shard_folder(number);
  config.store_id = directory_.description.store_id;
  config.number = number;
  config.shards = directory_.description.shards;
  config.segment_bytes = directory_.description.segment_bytes;
  config.budget_bytes = budget_bytes_ / config.shards;
  config.read_only = options_.read_only;
  config.compress = options_.compress;
  config.defer_removal = options_.sync_interval.count() > 0 && !options_.read_only;
  config.lock_deadline = options_.lock_deadline;
  config.boot = boot_;
  config.was_clean = was_clean_;
  return config;
}

expected<void> disk_store::open_shards() {
  const bool make = !options_.read_only;
  const auto path = directory_.path / "shards";
  auto folder = open_private_directory(files_, directory_.folder.get(), "shards", path, make, true);
  if (!folder) return fail(folder.error());
  for (unsigned number = 0; number < directory_.description.shards; ++number) {
    const auto name = shard_folder(number);
    auto place = open_private_directory(files_, folder->get(), name, path / name, make, true);
    if (!place) return fail(place.error());
    auto opened = shard::open(config_of(number), std::move(*place), mark_);
    if (!opened) return fail(opened.error());
    shards_.push_back(std::move(*opened));
  }
  return {};
}

void disk_store::start_syncing() {
  if (options_.read_only || options_.sync_interval.count() <= 0) return;
  periodic_ = std::make_unique<periodic>();
  periodic_->thread = std::thread([this] { sync_until_stopped(); });
}

void disk_store::sync_until_stopped() {
  std::unique_lock lock(periodic_->mutex);
  while (!periodic_->stopping) {
    periodic_->wake.wait_for(lock, options_.sync_interval);
    if (periodic_->stopping) return;
    lock.unlock();
    if (mark_.wrote()) (void)flush(); // an error stays with the shard, and flush() tells it again
    lock.lock();
  }
}

void disk_store::close() noexcept {
  if (is_forked()) {
    // The thread is not in this process, and its lock may be taken for ever.
    if (periodic_) {
      periodic_->thread.detach();
      (void)periodic_.release();
    }
    return;
  }
  if (periodic_) {
    {
      const std::lock_guard lock(periodic_->mutex);
      periodic_->stopping = true;
    }
    periodic_->wake.notify_all();
    periodic_->thread.join();
  }
  if (!session_ || !mark_.wrote() || shards_.size() != directory_.description.shards) return;
  if (!flush()) return;
  // The last one out says that all is on disk.
  if (files_.try_lock(session_->get(), true) != 0 || !flush()) return;
  for (const auto& one : shards_)
    if (!one->sync_index()) return;
  (void)mark_.set();
}

read_result disk_store::get(const entry_key& key) { return shards_[shard_of(key.hash)]->get(key); }

void disk_store::touch(const entry_key& key) noexcept { shards_[shard_of(key.hash)]->touch(key); }

std::uint64_t disk_store::epoch(unsigned number) const noexcept { return shards_[number]->epoch(); }

void disk_store::apply(unsigned number, std::span<write_request> group) {
  shards_[number]->apply(group);
}

expected<void> disk_store::flush() {
  for (const auto& one : shards_)
    if (auto synced = one->flush(); !synced) return synced;
  return {};
}

expected<std::unique_ptr<lease_table>> disk_store::open_leases() {
  if (options_.read_only)
    return fail(errc::read_only, "no leases in " + directory_.path.string() +
                                     ": the store is open read-only; open it for writing");
  if (is_forked())
    return fail(errc::forked, "no leases in " + directory_.path.string() +
                                  " in a forked child: open the store again after the fork");
  return lease_file::open(files_, directory_.folder.get(), directory_.path);
}

expected<void> disk_store::list(const std::function<bool(const entry_info&)>& visit) {
  bool go_on = true;
  for (const auto& one : shards_)
    if (auto listed = one->list(visit, go_on); !listed) return listed;
  return {};
}

store_stats disk_store::stats() const {
  store_stats all;
  all.budget_bytes = budget_bytes_;
  for (const auto& one : shards_)
    one->add_stats(all);
  return all;
}

expected<verify_report> disk_store::verify(bool repair) {
  verify_report report;
  for (const auto& one : shards_)
    if (auto checked = one->verify(repair, report); !checked) return fail(checked.error());
  return report;
}

expected<std::uint64_t> disk_store::evict_to(std::uint64_t bytes) {
  std::uint64_t freed = 0;
  for (const auto& one : shards_) {
    auto part = one->evict_to(bytes / shards_.size());
    if (!part) return fail(part.error());
    freed += *part;
  }
  return freed;
}

expected<void> disk_store::clear() {
  for (const auto& one : shards_)
    if (auto cleared = one->clear(); !cleared) return cleared;
  return {};
}

} // namespace disk
} // namespace hearth::storage
