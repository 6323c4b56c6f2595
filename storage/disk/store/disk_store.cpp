#include "storage/disk/store/disk_store.hpp"

#include "messages/random_number.hpp"
#include "storage/disk/os/errors.hpp"
#include "storage/disk/os/sigbus_guard.hpp"
#include "storage/disk/store/fleet_mark.hpp"
#include "storage/disk/store/lease_file.hpp"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <ctime>
#include <fcntl.h>
#include <limits>
#include <numeric>
#include <system_error>

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

// The shape of a new store. With a budget too small for four shards of eight segments it has fewer
// shards.
store_shape shape_for(const store_options& options, std::uint64_t budget) {
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

// Bytes of all files below a store's directory, two folders deep.
std::uint64_t bytes_in(file_system& files, int directory, unsigned depth = 0) {
  std::uint64_t total = 0;
  std::vector<std::string> names;
  files.list(directory, names);
  for (const auto& name : names) {
    struct stat about {};
    if (files.status_at(directory, name.c_str(), about) < 0) continue;
    total += static_cast<std::uint64_t>(about.st_blocks) * 512;
    if (!S_ISDIR(about.st_mode) || depth >= 2) continue;
    const file below(
        files, files.open_at(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0));
    if (below) total += bytes_in(files, below.get(), depth + 1);
  }
  return total;
}

// The limit for each shard so that all shards together keep at most `bytes`; a shard below its
// limit keeps everything.
std::uint64_t level_for(std::vector<std::uint64_t> held, std::uint64_t bytes) {
  std::sort(held.begin(), held.end());
  for (std::size_t i = 0; i < held.size(); ++i) {
    const auto level = bytes / (held.size() - i);
    if (held[i] > level) return level;
    bytes -= held[i];
  }
  return std::numeric_limits<std::uint64_t>::max();
}

// A copy of a store has its number, but not its folder; a restart of the host changes it too, which
// costs no more than that the host hears of its own purges.
std::uint64_t identify(file_system& files, const store_directory& directory) {
  struct stat about {};
  (void)files.status(directory.folder.get(), about);
  return hash_bytes(std::to_string(directory.description.store_id) + " " + files.boot_id() + " " +
                    std::to_string(about.st_dev) + " " + std::to_string(about.st_ino));
}

// Waits on the clock.
class interval_timer final : public sync_timer {
public:
  bool wait(std::chrono::milliseconds interval) override {
    std::unique_lock lock(mutex_);
    const bool woken = changed_.wait_for(lock, interval, [&] { return is_woken_; });
    is_woken_ = false;
    return !woken;
  }
  void wake() noexcept override {
    {
      const std::lock_guard lock(mutex_);
      is_woken_ = true;
    }
    changed_.notify_one();
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_woken_ = false;
};

} // namespace

disk_store::disk_store(store_options options)
    : options_(std::move(options))
    , files_(options_.files ? *options_.files : real_file_system())
    , born_(fork_generation()) {
  if (options_.read_only || options_.sync_interval.count() <= 0) return;
  background_ = std::make_unique<background_work>();
  background_->timer = options_.timer ? options_.timer : std::make_shared<interval_timer>();
}

expected<std::unique_ptr<store>> disk_store::open(store_options options) {
  if (options.directory.empty()) return fail(errc::invalid_argument, "a store needs a directory");
  if (options.guard_sigbus) install_sigbus_guard();
  std::unique_ptr<disk_store> opened(new disk_store(std::move(options)));
  auto first = opened->open_once();
  if (!first) return fail(first.error());
  opened->epoch_places_ = std::vector<epoch_place>((*first)->shards.size());
  opened->id_ = identify(opened->files_, (*first)->directory);
  opened->publish(**first);
  opened->openings_.push_back(std::move(*first));
  if (auto begun = opened->begin_background_work(); !begun) return fail(begun.error());
  return opened;
}

expected<void> disk_store::begin_background_work() {
  if (!background_) return {};
  try {
    background_->thread = std::thread(&disk_store::evict_and_sync, this);
  } catch (const std::system_error& refused) {
    return fail(errc::too_many_files, "cannot start the thread that syncs " +
                                          options_.directory.string() + ": " + refused.what() +
                                          "; raise the limit of processes (ulimit -u)");
  }
  return {};
}

disk_store::~disk_store() { close(); }

void disk_store::publish(opening& one) {
  current_.store(&one, std::memory_order_release);
  for (std::size_t i = 0; i < epoch_places_.size(); ++i)
    epoch_places_[i].word.store(&one.shards[i]->word_of_epoch(), std::memory_order_release);
}

expected<std::unique_ptr<disk_store::opening>> disk_store::open_once() {
  auto directory =
      open_store_directory(files_, options_.directory, options_.read_only, [&](const file& folder) {
        return shape_for(options_, choose_budget(folder));
      });
  if (!directory) return fail(directory.error());
  auto one = std::make_unique<opening>(files_, std::move(*directory));
  if (auto joined = join_session(*one); !joined) return fail(joined.error());
  if (auto shards = open_shards(*one); !shards) return fail(shards.error());
  return one;
}

expected<void> disk_store::join_session(opening& one) const {
  if (options_.read_only) return {};
  one.session = std::make_unique<unshared_file>(std::move(one.directory.description_file));
  const bool joined = retry_until(options_.lock_deadline,
                                  [&] { return files_.try_lock(one.session->get(), false) == 0; });
  if (joined) return {};
  return fail(errc::busy, "cannot lock " + (one.directory.path / "store").string() +
                              ": another process is closing the store; try again");
}

std::uint64_t disk_store::choose_budget(const file& folder) const {
  if (options_.budget_bytes != 0) return std::max(options_.budget_bytes, min_budget_bytes);
  const auto all = files_.free_bytes(folder.get()) + bytes_in(files_, folder.get());
  return std::clamp(all / 10, min_budget_bytes, default_budget_bytes);
}

shard_config disk_store::config_of(const opening& one, unsigned number,
                                   std::uint64_t budget) const {
  shard_config config;
  config.system = &files_;
  config.path = one.directory.path / "shards" / shard_folder(number);
  config.store_id = one.directory.description.store_id;
  config.number = number;
  config.shards = one.directory.description.shards;
  config.segment_bytes = one.directory.description.segment_bytes;
  config.budget_bytes = budget / config.shards;
  if (options_.budget_bytes == 0) {
    config.min_budget_bytes = min_budget_bytes / config.shards;
    config.max_budget_bytes = default_budget_bytes / config.shards;
  }
  config.read_only = options_.read_only;
  config.compress = options_.compress;
  if (background_) config.work_due = [timer = background_->timer] { timer->wake(); };
  config.lock_deadline = options_.lock_deadline;
  config.boot = boot_number(files_.boot_id());
  config.was_clean = one.mark.exists();
  return config;
}

expected<void> disk_store::open_shards(opening& one) const {
  const auto missing = options_.read_only ? when_missing::refuse : when_missing::make;
  const auto path = one.directory.path / "shards";
  auto folder = open_own_directory(files_, one.directory.folder.get(), "shards", path, missing,
                                   others_may::nothing);
  if (!folder) return fail(folder.error());
  const auto budget = choose_budget(one.directory.folder);
  const auto was_clean = one.mark.exists(); // building the first shard removes the mark
  for (unsigned number = 0; number < one.directory.description.shards; ++number) {
    const auto name = shard_folder(number);
    auto place =
        open_own_directory(files_, folder->get(), name, path / name, missing, others_may::nothing);
    if (!place) return fail(place.error());
    auto config = config_of(one, number, budget);
    config.was_clean = was_clean;
    auto opened = shard::open(std::move(config), std::move(*place), one.mark);
    if (!opened) return fail(opened.error());
    one.shards.push_back(std::move(*opened));
  }
  return {};
}

bool disk_store::reopen_after_removal(unsigned number) {
  constexpr std::size_t max_openings = 16; // openings are kept until the store closes
  if (is_forked()) return false;
  const std::lock_guard lock(opening_mutex_);
  if (shard_at(number).is_in_place() || openings_.size() >= max_openings) return false;
  auto next = open_once();
  if (!next || (*next)->shards.size() != current().shards.size()) return false;
  publish(**next);
  openings_.push_back(std::move(*next));
  return true;
}

// The background thread. It evicts down to the budget when a writer requests it, and syncs once an
// interval. Errors are not lost: a writer that finds no room gets them again, and so does flush().
void disk_store::evict_and_sync() {
  while (!background_->stopping) {
    const bool passed = background_->timer->wait(options_.sync_interval);
    if (background_->stopping) return;
    for (const auto& one : current().shards)
      one->catch_up();
    if (passed && current().mark.wrote()) (void)flush();
  }
}

void disk_store::close() noexcept {
  if (is_forked()) {
    // The thread does not exist in this forked child, and its timer's lock may stay taken for ever.
    if (background_) new std::shared_ptr<sync_timer>(background_->timer);
    (void)background_.release();
    return;
  }
  if (background_ && background_->thread.joinable()) {
    background_->stopping = true;
    background_->timer->wake();
    background_->thread.join();
  }
  if (!current_.load() || !current().session || !current().mark.wrote()) return;
  if (!options_.syncs_when_closed && was_synced_lately()) return;
  if (!flush()) return;
  // The last process to close the store marks that all of it is on disk.
  if (files_.try_lock(current().session->get(), true) != 0 || !flush()) return;
  for (const auto& one : current().shards)
    if (!one->sync_index()) return;
  (void)current().mark.set();
}

// Whether the clean mark was there a minute ago: its removal changed its folder.
bool disk_store::was_synced_lately() const noexcept {
  constexpr std::time_t lately_s = 60;
  struct stat about {};
  if (files_.status(current().directory.folder.get(), about) < 0) return false;
  return std::time(nullptr) - about.st_mtim.tv_sec < lately_s;
}

read_result disk_store::get(const entry_key& key) { return shard_at(shard_of(key.hash)).get(key); }

void disk_store::touch(const entry_key& key) noexcept { shard_at(shard_of(key.hash)).touch(key); }

void disk_store::note_unpersisted(unsigned number) noexcept { shard_at(number).note_unpersisted(); }

std::uint64_t disk_store::epoch(unsigned number) const noexcept { return shard_at(number).epoch(); }

std::uint64_t disk_store::apply(unsigned number, std::span<write_request> group) {
  auto moved = shard_at(number).apply(group);
  const auto failed = [](const write_request& r) { return r.status == write_status::failed; };
  if (std::none_of(group.begin(), group.end(), failed) || !reopen_after_removal(number))
    return moved;
  for (auto& request : group)
    if (failed(request)) moved += shard_at(number).apply({&request, 1});
  return moved;
}

expected<void> disk_store::flush() {
  for (const auto& one : current().shards)
    if (auto synced = one->flush(); !synced) return synced;
  const auto& directory = current().directory;
  return sync_journals(files_, directory.folder.get(), directory.path);
}

expected<std::unique_ptr<lease_table>> disk_store::open_leases() {
  const auto& path = current().directory.path;
  if (options_.read_only)
    return fail(errc::read_only, "no leases in " + path.string() +
                                     ": the store is open read-only; open it for writing");
  if (is_forked())
    return fail(errc::forked, "no leases in " + path.string() +
                                  " in a forked child: open the store again after the fork");
  return lease_file::open(files_, current().directory.folder.get(), path);
}

expected<void> disk_store::list(const std::function<bool(const entry_info&)>& visit) {
  bool go_on = true;
  for (const auto& one : current().shards)
    if (auto listed = one->list(visit, go_on); !listed) return listed;
  return {};
}

expected<std::optional<scan_place>>
disk_store::scan(const scan_place& from, const std::function<bool(const entry_info&)>& visit) {
  if (from.shard >= shards()) return std::optional<scan_place>();
  auto next = shard_at(from.shard).scan(from, visit);
  if (!next || *next || from.shard + 1 == shards()) return next;
  return std::optional(scan_place{from.shard + 1, 0, 0});
}

store_stats disk_store::stats() const {
  store_stats all;
  for (const auto& one : current().shards)
    one->add_stats(all);
  return all;
}

std::vector<std::uint64_t> disk_store::taken() const {
  std::vector<std::uint64_t> bytes;
  for (const auto& one : current().shards)
    bytes.push_back(one->disk_bytes());
  return bytes;
}

namespace {

// Adds up the progress of the shards, which are worked on one after another.
class shared_progress {
public:
  shared_progress(const progress_callback& tell, std::uint64_t all)
      : tell_(tell)
      , all_(all) {}
  void add(std::uint64_t bytes) {
    done_ += bytes;
    if (tell_) tell_(std::min(done_, all_), all_); // other threads may write meanwhile
  }

private:
  const progress_callback& tell_;
  std::uint64_t all_;
  std::uint64_t done_ = 0;
};

} // namespace

expected<verify_report> disk_store::verify(bool repair, const progress_callback& progress) {
  const auto bytes = taken();
  shared_progress all(progress, std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}));
  verify_report report;
  for (const auto& one : current().shards)
    if (auto checked = one->verify(repair, report,
                                   [&](std::uint64_t checked_bytes) { all.add(checked_bytes); });
        !checked)
      return fail(checked.error());
  return report;
}

// Evicts from the largest shards first, and from none if all together are below the limit.
expected<std::uint64_t> disk_store::evict_to(std::uint64_t bytes,
                                             const progress_callback& progress) {
  const auto before = taken();
  const auto level = level_for(before, bytes);
  std::uint64_t to_free = 0;
  for (const auto one : before)
    to_free += one - std::min(one, level);
  shared_progress all(progress, to_free);
  std::uint64_t freed = 0;
  for (const auto& one : current().shards) {
    auto part = one->evict_to(level, [&](std::uint64_t freed_bytes) { all.add(freed_bytes); });
    if (!part) return fail(part.error());
    freed += *part;
  }
  return freed;
}

expected<void> disk_store::clear() {
  for (const auto& one : current().shards)
    if (auto cleared = one->clear(); !cleared) return cleared;
  return {};
}

expected<std::unique_ptr<change_journal>> disk_store::open_journal(std::string_view fleet) {
  const auto& path = current().directory.path;
  if (options_.read_only)
    return fail(errc::read_only, "no journal in " + path.string() +
                                     ": the store is open read-only; open it for writing");
  return change_journal::open(files_, current().directory.folder.get(), path, fleet,
                              random_number());
}

std::string disk_store::fleet_mark() const {
  return read_fleet_mark(files_, current().directory.folder.get());
}

expected<void> disk_store::set_fleet_mark(std::string_view mark) {
  if (options_.read_only || mark.size() > max_fleet_mark_bytes)
    return fail(errc::invalid_argument, "the store is read-only, or the mark is too long");
  const auto& directory = current().directory;
  return write_fleet_mark(files_, directory.folder.get(), random_number(), mark, directory.path);
}

} // namespace disk
} // namespace hearth::storage
