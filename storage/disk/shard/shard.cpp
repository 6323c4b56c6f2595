#include "storage/disk/shard/shard.hpp"

#include "storage/disk/head/temporary_files.hpp"
#include "storage/disk/read/entry_list.hpp"
#include "storage/disk/repair/verification.hpp"

namespace hearth::storage::disk {
namespace {

// At opening, another process that rebuilds the index may hold the lock.
constexpr std::chrono::milliseconds rebuild_deadline{60000};

} // namespace

shard::shard(std::unique_ptr<shard_files> files)
    : owned_files_(std::move(files))
    , files_(*owned_files_)
    , space_(files_)
    , entries_(files_)
    , index_(files_, entries_)
    , growth_(files_, space_, index_, unfinished_.written)
    , active_(files_, space_, index_, unfinished_)
    , rebuild_(files_, space_, active_)
    , recovery_(files_, index_, growth_, active_, rebuild_)
    , access_(files_, recovery_)
    , syncer_(files_, active_, unfinished_, access_)
    , removal_(files_, space_, unfinished_, access_, syncer_)
    , segment_eviction_(files_, space_, index_, active_, access_, syncer_)
    , eviction_(files_, space_, growth_, active_, access_, removal_, segment_eviction_)
    , large_writer_(files_, space_, index_, growth_, active_, unfinished_, access_, eviction_)
    , group_writer_(files_, space_, index_, growth_, active_, access_, eviction_, large_writer_) {}

expected<std::unique_ptr<shard>> shard::open(shard_config config, file directory,
                                             clean_mark& mark) {
  auto files = shard_files::open(std::move(config), std::move(directory), mark);
  if (!files) return fail(files.error());
  std::unique_ptr<shard> opened(new shard(std::move(*files)));
  if (auto checked = opened->check_at_open(); !checked) return fail(checked.error());
  return opened;
}

// Whether the head states that this very file was in use since the machine started.
bool shard::was_here_before() const noexcept {
  return files_.is_head_usable() &&
         files_.head.get(head_word::inode) == files_.opened_head.inode() &&
         files_.head.get(head_word::boot) == files_.config.boot;
}

// If everything was synced before the machine restarted, the index is still valid.
void shard::adopt_boot() noexcept {
  const bool is_good = files_.is_head_usable() &&
                       files_.head.get(head_word::inode) == files_.opened_head.inode() &&
                       files_.config.was_clean && files_.head.get(head_word::boot) != 0;
  files_.head.set(head_word::boot, is_good ? files_.config.boot : 0); // 0: rebuild the index
}

expected<void> shard::check_at_open() {
  const bool known = was_here_before();
  if (files_.config.read_only) {
    const bool trusted = known || (files_.config.was_clean && files_.head.verify() &&
                                   files_.head.get(head_word::inode) == files_.opened_head.inode());
    if (trusted && files_.index.current()) return {};
    if (!files_.config.notes_hits) return rebuild_.run_in_memory();
    return fail(errc::busy, files_.config.path.string() + " has to be put in order first");
  }
  if (!files_.lock->lock(known ? std::chrono::milliseconds(0) : rebuild_deadline)) {
    if (known) return {}; // another process is writing, so it has checked the shard
    return fail(errc::busy, "cannot lock " + files_.config.path.string() +
                                ": another process holds it; try again");
  }
  shard_lock_hold held(*files_.lock);
  if (!was_here_before()) adopt_boot();
  if (auto ready = recovery_.put_in_order(); !ready) return ready;
  const auto* index = files_.index.current();
  if (index && index->sum() != files_.head.get(head_word::index_sum))
    if (auto rebuilt = rebuild_.run(); !rebuilt) return rebuilt;
  remove_abandoned_files(files_.system, files_.directory.get());
  removal_.remove_retired_now();
  held.release();
  eviction_.catch_up();
  return {};
}

expected<void> shard::flush() {
  if (!files_.is_writable()) return fail(files_.refusal());
  const auto dead =
      files_.may_have_dead_large ? removal_.find_dead_large() : std::vector<std::uint64_t>{};
  if (auto synced = syncer_.sync_all(); !synced) return synced;
  if (auto removed = removal_.remove_dead_large(dead); !removed) return removed;
  if (auto removed = removal_.remove_retired(); !removed) return removed;
  return syncer_.write_tables();
}

expected<void> shard::list(const std::function<bool(const entry_info&)>& visit, bool& go_on) {
  return list_entries(files_, visit, go_on);
}

expected<std::optional<scan_place>>
shard::scan(const scan_place& from, const std::function<bool(const entry_info&)>& visit) {
  return scan_entries(files_, from, visit);
}

// Erases the expired entries by tombstones. A slot that was only cleared would bring an older
// record of its key back, if a rebuild found that one alone.
expected<void> shard::drop_expired() {
  constexpr std::size_t max_group = 256;
  const auto expired = expired_entries(files_);
  if (!expired) return fail(expired.error());
  for (std::size_t next = 0; next < expired->size();) {
    std::vector<cache_id> caches;
    caches.reserve(max_group); // the requests point at them
    std::vector<write_request> group;
    for (; next < expired->size() && group.size() < max_group; ++next) {
      const auto& entry = (*expired)[next];
      const auto id = cache_id::make(entry.cache, entry.version);
      if (!id) continue;
      caches.push_back(*id);
      group.push_back({.kind = write_kind::expire, .key = {caches.back(), entry.key}});
    }
    apply(group);
  }
  return {};
}

expected<std::uint64_t> shard::evict_to(std::uint64_t bytes, const step_callback& step) {
  if (files_.is_writable())
    if (auto dropped = drop_expired(); !dropped) return fail(dropped.error());
  return eviction_.evict_to(bytes, step);
}

expected<void> shard::verify(bool repair, verify_report& report, const step_callback& step) {
  verification check(files_, space_, entries_, unfinished_, recovery_, access_, report);
  check.check(step);
  return repair ? check.repair() : expected<void>{};
}

void shard::add_stats(store_stats& out) const {
  const auto use = space_.measure();
  out.disk_bytes += use.bytes;
  out.budget_bytes += files_.config.budget_bytes;
  out.segments += use.segments.size();
  std::uint64_t lowest = 0;
  const auto* index = files_.index.newest();
  if (index && files_.head.load(head_word::oldest, lowest)) {
    for (std::uint64_t i = 0; i < index->slots(); ++i) {
      const auto word = index->at(i).load(std::memory_order_relaxed);
      out.entries += word != 0 && slot_segment(word) >= lowest;
    }
    out.index_bytes += index->slots() * sizeof(slot);
    out.live_bytes += files_.head.get(head_word::live_bytes);
  }
  const auto add = [&](std::uint64_t& to, counter which) { to += files_.counts.total(which); };
  add(out.hits, counter::hits);
  add(out.misses, counter::misses);
  add(out.corrupt, counter::corrupt);
  add(out.unreadable, counter::unreadable);
  add(out.expired, counter::expired);
  add(out.inserted, counter::inserted);
  add(out.existed, counter::existed);
  add(out.put, counter::put);
  add(out.erased, counter::erased);
  add(out.failed, counter::failed);
  add(out.evicted, counter::evicted);
  add(out.kept_by_hit, counter::kept_by_hit);
  add(out.rebuilds, counter::rebuilds);
  add(out.groups, counter::groups);
}

} // namespace hearth::storage::disk
