#include "storage/disk/evict/segment_removal.hpp"

#include "storage/disk/os/errors.hpp"

#include <cerrno>

namespace hearth::storage::disk {

// The caller holds the lock. After a failed sync, going on breaks no promise: `flush` is an error
// until the segment that could not be synced is evicted as well.
bool segment_removal::may_remove() noexcept {
  return files_.head.verify() && (syncer_.is_synced(files_.head.place(head_word::retired_after)) ||
                                  syncer_.failed_segment() != 0);
}

// The caller holds the lock. Returns 0 or minus an errno.
int segment_removal::remove(std::uint64_t segment) {
  const file one = open_segment_to_change(files_.place(), segment);
  struct stat about {};
  const bool known = one && files_.system.status(one.get(), about) == 0;
  unfinished_.forget(segment);
  const int removed = files_.remove(segment_name(segment));
  // A file that some process maps keeps its blocks. They are freed after the name is removed, not
  // before: if a power loss brings the name back, the file must be whole.
  if (known && removed == 0 && about.st_size > 0 && about.st_nlink == 1)
    files_.system.punch(one.get(), 0, static_cast<std::uint64_t>(about.st_size));
  return removed == -ENOENT ? 0 : removed;
}

void segment_removal::remove_retired_now() {
  if (!may_remove()) return;
  for (const auto segment : space_.measure().segments)
    if (segment < files_.oldest()) remove(segment);
}

expected<void> segment_removal::remove_retired() {
  auto segments = space_.measure().segments;
  const auto lowest = files_.oldest();
  std::erase_if(segments, [&](std::uint64_t segment) { return segment >= lowest; });
  if (segments.empty()) return {};
  if (!syncer_.is_synced(files_.head.place(head_word::retired_after)))
    (void)syncer_.sync_all(); // see may_remove()
  for (const auto segment : segments) {
    const auto held = access_.lock();
    if (!held) return fail(held.error());
    if (!may_remove()) return {}; // an eviction kept more entries meanwhile
    if (const int removed = segment < files_.oldest() ? remove(segment) : 0; removed < 0)
      return fail(system_error(-removed, "remove", files_.path_of_segment(segment)));
  }
  return {};
}

bool segment_removal::is_dead_large(std::uint64_t segment) {
  const auto record = read_large_record(files_.place(), segment);
  const auto* index = record ? files_.index.current() : nullptr;
  return index && !index->find_exact(record->hash, {segment, first_record_offset});
}

std::vector<std::uint64_t> segment_removal::find_dead_large() {
  files_.may_have_dead_large.store(false);
  auto segments = space_.measure().segments;
  std::erase_if(segments, [&](std::uint64_t segment) {
    return segment < files_.oldest() || !is_dead_large(segment);
  });
  return segments;
}

expected<void> segment_removal::remove_dead_large(const std::vector<std::uint64_t>& dead) {
  if (dead.empty() || !syncer_.sync_all()) return {};
  for (const auto segment : dead) {
    const auto held = access_.lock();
    if (!held) return fail(held.error());
    if (files_.head.verify() && segment >= files_.oldest() && is_dead_large(segment))
      remove(segment);
  }
  return {};
}

} // namespace hearth::storage::disk
