// Removing segments: those below the oldest, and those of large values that were replaced or
// erased. What took the place of their entries has to survive a power loss first.
#include "storage/disk/errors.hpp"
#include "storage/disk/shard.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace hearth::storage::disk {

// With the lock held. When the system could not sync, nothing that was promised is lost by going
// on: `flush` says so until the segment that it is about was evicted as well.
bool shard::may_remove() noexcept {
  return head_.verify() && (is_synced(head_.place(head_word::retired_after)) || failed_sync() != 0);
}

// With the lock held. Returns 0 or minus an errno.
int shard::remove_segment(std::uint64_t segment) {
  const auto name = segment_name(segment);
  const file one(files_, files_.open_at(directory_.get(), name.c_str(), O_WRONLY | O_NOFOLLOW, 0));
  struct stat about {};
  const bool known = one && files_.status(one.get(), about) == 0;
  unsynced_.erase(segment);
  std::erase(to_seal_, segment);
  const int removed = files_.remove_at(directory_.get(), name.c_str());
  // A file that somebody maps keeps its blocks. After its name, not before: a power loss that
  // brings the name back is to find it whole.
  if (known && removed == 0 && about.st_size > 0 && about.st_nlink == 1)
    files_.punch(one.get(), 0, static_cast<std::uint64_t>(about.st_size));
  return removed == -ENOENT ? 0 : removed;
}

// With the lock held, for as long as it takes.
void shard::remove_retired_now() {
  if (!may_remove()) return;
  for (const auto segment : measure().segments)
    if (segment < oldest()) remove_segment(segment);
}

// Without the lock, which it takes once a segment.
expected<void> shard::remove_retired() {
  auto segments = measure().segments;
  const auto lowest = oldest();
  std::erase_if(segments, [&](std::uint64_t segment) { return segment >= lowest; });
  if (segments.empty()) return {};
  if (!is_synced(head_.place(head_word::retired_after))) (void)sync_all(); // see may_remove()
  for (const auto segment : segments) {
    if (auto locked = lock_for_writing(config_.lock_deadline); !locked) return locked;
    const hold held(*this);
    if (!may_remove()) return {}; // more was kept meanwhile
    if (const int removed = segment < oldest() ? remove_segment(segment) : 0; removed < 0)
      return fail(system_error(-removed, "remove", path_of(segment_name(segment))));
  }
  return {};
}

// The header of a large value's record; nothing when the segment is none of a large value.
std::optional<record_header> shard::large_record(std::uint64_t segment) const {
  std::uint64_t size = 0;
  std::uint64_t sealed_as = 0;
  const file opened = open_segment(windows_.place(), segment, size, &sealed_as);
  struct {
    segment_header segment;
    record_header record;
  } front;
  static_assert(sizeof front == sizeof(segment_header) + sizeof(record_header));
  if (!opened || read_fully(files_, opened.get(), &front, sizeof front, 0) != sizeof front ||
      front.segment.large == 0 ||
      !is_sealed(front.record, config_.store_id, {sealed_as, first_record_offset}))
    return std::nullopt;
  return front.record;
}

bool shard::is_dead_large(std::uint64_t segment) {
  const auto record = large_record(segment);
  const auto* index = record ? current_index() : nullptr;
  return index && !index->find_exact(record->hash, {segment, first_record_offset});
}

std::vector<std::uint64_t> shard::find_dead_large() {
  may_have_dead_large_.store(false);
  auto segments = measure().segments;
  std::erase_if(segments, [&](std::uint64_t segment) {
    return segment < oldest() || !is_dead_large(segment);
  });
  return segments;
}

// Each was dead when it was found; what replaced it is synced before it goes, or an older record of
// its key could come back.
expected<void> shard::remove_dead_large(const std::vector<std::uint64_t>& dead) {
  if (dead.empty() || !sync_all()) return {};
  for (const auto segment : dead) {
    if (auto locked = lock_for_writing(config_.lock_deadline); !locked) return locked;
    const hold held(*this);
    if (head_.verify() && segment >= oldest() && is_dead_large(segment)) remove_segment(segment);
  }
  return {};
}

} // namespace hearth::storage::disk
