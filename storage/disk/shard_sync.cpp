// Making what was acknowledged survive a power loss. The system's work is done outside the lock;
// `synced` moves only after all of it succeeded.
#include "storage/disk/errors.hpp"
#include "storage/disk/shard.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace hearth::storage::disk {

bool shard::is_synced(location where) const noexcept {
  if (where.segment == 0) return true;
  const auto synced = head_.place(head_word::synced);
  if (where.segment == synced.segment) return where.offset <= synced.offset;
  return where.segment < head_.get(head_word::synced_files) && where.segment != tail().segment;
}

shard::sync_job shard::begin_sync() {
  sync_job job;
  job.tail = tail();
  job.next_segment = head_.get(head_word::next_segment);
  job.synced = head_.place(head_word::synced);
  job.synced_files = head_.get(head_word::synced_files);
  job.oldest = oldest();
  job.directory = true;
  job.open = unsynced_;
  if (active_file_ && active_segment_ == job.tail.segment && job.tail != job.synced)
    job.open.emplace(active_segment_, active_file_);
  return job;
}

expected<void> shard::do_sync(sync_job& job) const {
  if (job.is_done()) return {};
  std::vector<std::string> names;
  if (const int listed = files_.list(directory_.get(), names); listed < 0)
    return fail(system_error(-listed, "list", config_.path));
  const auto sync_one = [&](std::uint64_t segment) {
    const auto known = job.open.find(segment);
    if (known != job.open.end()) return files_.sync(known->second->get());
    const file opened(files_, files_.open_at(directory_.get(), segment_name(segment).c_str(),
                                             O_RDONLY | O_NOFOLLOW, 0));
    if (!opened) return opened.error() == ENOENT ? 0 : -opened.error();
    return files_.sync(opened.get());
  };
  for (const auto& name : names) {
    const auto segment = segment_number(name);
    const bool done = segment < job.synced_files && segment != job.synced.segment;
    if (segment < job.oldest || segment >= job.next_segment || done) continue;
    if (const int synced = sync_one(segment); synced < 0) {
      job.failed = segment;
      return fail(system_error(-synced, "sync", path_of(name)));
    }
  }
  if (const int synced = files_.sync(directory_.get()); synced < 0) {
    job.failed = job.tail.segment;
    return fail(system_error(-synced, "sync", config_.path));
  }
  return {};
}

void shard::end_sync(const sync_job& job) {
  // Two may have synced at once: the words only move on.
  const auto synced = head_.place(head_word::synced);
  if (synced.segment < job.tail.segment ||
      (synced.segment == job.tail.segment && synced.offset < job.tail.offset))
    head_.set(head_word::synced, job.tail);
  if (head_.get(head_word::synced_files) < job.next_segment)
    head_.set(head_word::synced_files, job.next_segment);
  for (const auto& [segment, one] : job.open)
    if (segment != job.tail.segment) unsynced_.erase(segment);
}

// What the system says of a failed sync it says once: it is kept here until the head has it.
void shard::note_sync_failure(std::uint64_t segment) noexcept {
  auto known = sync_failed_here_.load();
  while (known < segment && !sync_failed_here_.compare_exchange_weak(known, segment)) {
  }
}

// With the lock held: the segment that could not be synced, until it is evicted; 0: there is none.
std::uint64_t shard::failed_sync() noexcept {
  const auto failed = std::max(head_.get(head_word::sync_failed), sync_failed_here_.exchange(0));
  if (failed != head_.get(head_word::sync_failed)) head_.set(head_word::sync_failed, failed);
  return failed >= oldest() ? failed : 0;
}

// Everything that was acknowledged before, by any process. Without the lock, but for its ends.
expected<void> shard::sync_all() {
  sync_job job;
  {
    if (auto locked = lock_for_writing(config_.lock_deadline); !locked) return locked;
    const hold held(*this);
    if (const auto failed = failed_sync(); failed != 0)
      return fail(errc::io, "the system could not sync " + path_of(segment_name(failed)).string() +
                                " and may have dropped bytes of it; check the disk, then clear");
    job = begin_sync();
  }
  const auto synced = do_sync(job);
  if (!synced) note_sync_failure(job.failed);
  if (auto locked = lock_for_writing(config_.lock_deadline); !locked)
    return synced ? locked : synced;
  const hold held(*this);
  if (!synced) {
    failed_sync();
    return synced;
  }
  end_sync(job);
  return {};
}

expected<void> shard::flush() {
  if (may_not_write()) return fail(refusal());
  const auto dead = may_have_dead_large_ ? find_dead_large() : std::vector<std::uint64_t>{};
  if (auto synced = sync_all(); !synced) return synced;
  if (auto removed = remove_dead_large(dead); !removed) return removed;
  if (auto removed = remove_retired(); !removed) return removed;
  std::vector<std::pair<std::uint64_t, std::vector<table_entry>>> sealable;
  {
    if (auto locked = lock_for_writing(config_.lock_deadline); !locked) return locked;
    const hold held(*this);
    for (const auto segment : std::exchange(to_seal_, {}))
      sealable.emplace_back(segment, written_.take(segment));
  }
  // Outside the lock: nothing is appended to them. A table that fails to be written is done
  // without.
  for (auto& [segment, entries] : sealable)
    if (segment >= oldest()) write_table(windows_.place(), segment, std::move(entries));
  return {};
}

bool shard::sync_index() {
  const auto* index = current_index();
  if (!index) return false;
  for (const auto& name : {index_name(index->generation()), std::string("head")}) {
    const file one(files_,
                   files_.open_at(directory_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW, 0));
    if (!one || files_.sync(one.get()) < 0) return false;
  }
  return true;
}

} // namespace hearth::storage::disk
