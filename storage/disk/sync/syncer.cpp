#include "storage/disk/sync/syncer.hpp"

#include "storage/disk/os/errors.hpp"
#include "storage/disk/segment/segment_table.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <utility>
#include <vector>

namespace hearth::storage::disk {

// The files to sync, as of one moment.
struct syncer::job {
  location tail{};
  std::uint64_t next_segment = 0;
  location synced{};
  std::uint64_t synced_files = 0;
  std::uint64_t oldest = 0;
  unfinished_segments::open_files open; // segments that this process wrote
  std::uint64_t failed = 0;             // segment that could not be synced

  bool is_done() const noexcept {
    return tail == synced && next_segment == synced_files && open.empty();
  }
  bool includes(std::uint64_t segment) const noexcept {
    const bool is_synced = segment < synced_files && segment != synced.segment;
    return segment >= oldest && segment < next_segment && !is_synced;
  }
};

bool syncer::is_synced(location where) const noexcept {
  if (where.segment == 0) return true;
  const auto synced = files_.head.place(head_word::synced);
  if (where.segment == synced.segment) return where.offset <= synced.offset;
  return where.segment < files_.head.get(head_word::synced_files) &&
         where.segment != files_.tail().segment;
}

// The caller holds the lock.
syncer::job syncer::begin() const {
  job work;
  work.tail = files_.tail();
  work.next_segment = files_.head.get(head_word::next_segment);
  work.synced = files_.head.place(head_word::synced);
  work.synced_files = files_.head.get(head_word::synced_files);
  work.oldest = files_.oldest();
  work.open = unfinished_.unsynced();
  if (auto active = active_.file_of(work.tail.segment); active && work.tail != work.synced)
    work.open.emplace(work.tail.segment, std::move(active));
  return work;
}

// Returns 0 or minus an errno.
int syncer::sync_segment(std::uint64_t segment, const job& work) const {
  const auto known = work.open.find(segment);
  if (known != work.open.end()) return files_.system.sync(known->second->get());
  const file opened = files_.open_file(segment_name(segment), O_RDONLY);
  if (!opened) return opened.error() == ENOENT ? 0 : -opened.error();
  return files_.system.sync(opened.get());
}

// The caller does not hold the lock.
expected<void> syncer::run(job& work) const {
  if (work.is_done()) return {};
  std::vector<std::string> names;
  if (const int listed = files_.system.list(files_.directory.get(), names); listed < 0)
    return fail(system_error(-listed, "list", files_.config.path));
  for (const auto& name : names) {
    const auto segment = segment_number(name);
    if (!work.includes(segment)) continue;
    if (const int synced = sync_segment(segment, work); synced < 0) {
      work.failed = segment;
      return fail(system_error(-synced, "sync", files_.path_of(name)));
    }
  }
  if (const int synced = files_.system.sync(files_.directory.get()); synced < 0) {
    work.failed = work.tail.segment;
    return fail(system_error(-synced, "sync", files_.config.path));
  }
  return {};
}

// The caller holds the lock. Two threads may have synced at once: the words only increase.
void syncer::end(const job& work) {
  const auto synced = files_.head.place(head_word::synced);
  if (synced.segment < work.tail.segment ||
      (synced.segment == work.tail.segment && synced.offset < work.tail.offset))
    files_.head.set(head_word::synced, work.tail);
  if (files_.head.get(head_word::synced_files) < work.next_segment)
    files_.head.set(head_word::synced_files, work.next_segment);
  unfinished_.forget_synced(work.open, work.tail.segment);
}

// The system reports a failed sync only once: the segment is kept here until the head has it.
void syncer::note_failure(std::uint64_t segment) noexcept {
  auto known = failed_here_.load();
  while (known < segment && !failed_here_.compare_exchange_weak(known, segment)) {
  }
}

std::uint64_t syncer::failed_segment() noexcept {
  const auto known = files_.head.get(head_word::sync_failed);
  const auto failed = std::max(known, failed_here_.exchange(0));
  if (failed != known) files_.head.set(head_word::sync_failed, failed);
  return failed >= files_.oldest() ? failed : 0;
}

expected<void> syncer::sync_all() {
  job work;
  {
    const auto held = access_.lock();
    if (!held) return fail(held.error());
    if (const auto failed = failed_segment(); failed != 0)
      return fail(errc::io, "the system could not sync " + files_.path_of_segment(failed).string() +
                                " and may have dropped bytes of it; check the disk, then clear");
    work = begin();
  }
  const auto synced = run(work);
  if (!synced) note_failure(work.failed);
  const auto held = access_.lock();
  if (!held) return synced ? fail(held.error()) : synced;
  if (!synced) {
    failed_segment();
    return synced;
  }
  end(work);
  return {};
}

expected<void> syncer::write_tables() {
  std::vector<unfinished_segments::table_to_write> tables;
  {
    const auto held = access_.lock();
    if (!held) return fail(held.error());
    tables = unfinished_.take_untabled();
  }
  // Outside the lock: no process appends to these segments. A segment whose table cannot be written
  // stays without one.
  for (auto& [segment, entries] : tables)
    if (segment >= files_.oldest()) write_table(files_.place(), segment, std::move(entries));
  return {};
}

bool syncer::sync_index() {
  const auto* index = files_.index.current();
  if (!index) return false;
  for (const auto& name : {index_name(index->generation()), std::string("head")}) {
    const file one = files_.open_file(name, O_RDONLY);
    if (!one || files_.system.sync(one.get()) < 0) return false;
  }
  return true;
}

} // namespace hearth::storage::disk
