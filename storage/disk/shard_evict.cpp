// The budget: the oldest segment goes, and what of it was hit is appended again first.
#include "storage/disk/errors.hpp"
#include "storage/disk/shard.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace hearth::storage::disk {

shard::disk_use shard::measure() const {
  disk_use use;
  std::vector<std::string> names;
  files_.list(directory_.get(), names);
  std::uint64_t lowest = 0;
  if (!head_.load(head_word::oldest, lowest)) lowest = 0;
  for (const auto& name : names) {
    struct stat about {};
    if (files_.status_at(directory_.get(), name.c_str(), about) < 0) continue;
    const auto bytes = static_cast<std::uint64_t>(about.st_blocks) * 512;
    use.bytes += bytes;
    const auto segment = segment_number(name);
    if (segment == 0) continue;
    use.segments.push_back(segment);
    if (segment < lowest) use.retired_bytes += bytes;
  }
  std::sort(use.segments.begin(), use.segments.end());
  return use;
}

// Whether an empty active segment is all there is.
bool shard::is_bare(const disk_use& use) const noexcept {
  const auto first = std::lower_bound(use.segments.begin(), use.segments.end(), oldest());
  return use.segments.end() - first <= 1 && tail().offset == first_record_offset;
}

// Until `bytes` more fit into the budget. Segments that were evicted and wait for the copies of
// their entries to be synced count as gone while they are few, since whoever syncs removes them.
expected<void> shard::make_room(std::uint64_t bytes) {
  constexpr unsigned max_rounds = 100000;
  for (unsigned round = 0; round < max_rounds; ++round) {
    const auto use = measure();
    const auto waiting =
        config_.defer_removal ? std::min(use.retired_bytes, config_.segment_bytes) : 0;
    if (use.bytes - waiting + bytes <= config_.budget_bytes) return {};
    if (use.retired_bytes > waiting) {
      if (auto removed = sync_and_remove_retired(); !removed) return removed;
      continue;
    }
    if (is_bare(use)) return {}; // the budget is smaller than the least that a store takes
    if (auto evicted = evict_oldest(true); !evicted) return evicted;
  }
  return {};
}

expected<void> shard::sync_and_remove_retired() {
  if (remove_retired()) return {};
  auto job = begin_sync();
  if (auto synced = do_sync(job); !synced) return synced;
  end_sync(job);
  if (remove_retired()) return {};
  return fail(errc::io, "evicted segments of " + config_.path.string() +
                            " cannot be removed; check the directory's rights");
}

expected<void> shard::evict_oldest(bool keep_hit) {
  const auto use = measure();
  const auto first = std::lower_bound(use.segments.begin(), use.segments.end(), oldest());
  if (first == use.segments.end()) return {};
  const auto victim = *first;
  if (victim == tail().segment)
    if (auto begun = begin_segment(); !begun) return begun;
  auto* index = current_index();
  if (!index) return fail(errc::io, "the index of " + config_.path.string() + " cannot be mapped");
  std::vector<entry_place> hit;
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  const int error =
      for_each_entry(windows_.place(), victim, ~std::uint64_t{0}, [&](const entry_place& entry) {
        const slot* one = index->find_exact(entry.hash, entry.where);
        if (!one || entry.kind != record_kind::value) return;
        ++entries;
        bytes += entry.bytes;
        if (one->load(std::memory_order_relaxed) & hit_bit) hit.push_back(entry);
      });
  if (error == EMFILE || error == ENFILE || error == ENOMEM)
    return fail(system_error(error, "read", path_of(segment_name(victim))));
  const auto kept = keep_hit ? keep_hit_entries(hit) : 0;
  counters_.add(counter::kept_by_hit, kept);
  counters_.add(counter::evicted, entries - kept);
  const auto live = head_.get(head_word::live_bytes);
  head_.set(head_word::live_bytes, live - std::min(live, bytes));
  if (kept > 0) head_.set(head_word::retired_after, tail());
  const auto next = std::upper_bound(use.segments.begin(), use.segments.end(), victim);
  head_.set(head_word::oldest, next != use.segments.end() ? *next : tail().segment);
  remove_retired();
  return {};
}

// At most half a segment of them; the hit bits go. Returns how many were kept.
std::uint64_t shard::keep_hit_entries(const std::vector<entry_place>& hit) {
  std::uint64_t budget = config_.segment_bytes / 2;
  std::uint64_t kept = 0;
  if (hit.empty()) return 0;
  segment_scan from(windows_.place(), hit.front().where.segment);
  for (const auto& entry : hit) {
    if (entry.bytes > budget) continue;
    if (!append_copy(from, entry)) continue;
    budget -= entry.bytes;
    ++kept;
  }
  return kept;
}

bool shard::append_copy(segment_scan& from, const entry_place& entry) {
  if (tail().offset + entry.bytes > segment_limit() && !begin_segment()) return false;
  const auto record = from.read_intact(entry.where);
  auto* index = current_index();
  if (record.empty() || !index || !open_active()) return false;
  const auto start = tail();
  if (!allocate_to(start.offset + record.size())) return false;
  slot* place = index->find_exact(entry.hash, entry.where);
  if (!place) return false;
  record_header header;
  std::memcpy(&header, record.data(), sizeof header);
  header.sequence = head_.get(head_word::sequence) + 1;
  seal(header, config_.store_id, start);
  const location end{start.segment, start.offset + record.size()};
  head_.set(head_word::sequence, header.sequence);
  head_.set(head_word::reserved, end);
  head_.set(head_word::pending, start);
  std::vector<iovec> parts{
      {&header, sizeof header},
      {const_cast<char*>(record.data()) + sizeof header, record.size() - sizeof header}};
  const auto wrote = write_fully(files_, active_file_->get(), parts, start.offset);
  if (!wrote.error) {
    head_.set(head_word::active, end);
    const planned_record one{0, place, make_slot(entry.hash, start), 0, entry.bytes, 0, false};
    publish({&one, 1});
  } else {
    head_.set(head_word::reserved, start);
  }
  head_.set(head_word::pending, 0);
  return !wrote.error;
}

// Removes the segments below the oldest, once the copies of what they held are synced. False when
// some had to stay.
bool shard::remove_retired() {
  if (!is_synced(head_.place(head_word::retired_after)) || !head_.verify()) return false;
  bool all = true;
  for (const auto segment : measure().segments) {
    if (segment >= oldest()) break;
    const auto name = segment_name(segment);
    const file one(files_,
                   files_.open_at(directory_.get(), name.c_str(), O_WRONLY | O_NOFOLLOW, 0));
    struct stat about {};
    // The blocks first: a file that somebody maps keeps them when it is unlinked.
    if (one && files_.status(one.get(), about) == 0 && about.st_size > 0)
      files_.punch(one.get(), 0, static_cast<std::uint64_t>(about.st_size));
    all = files_.remove_at(directory_.get(), name.c_str()) == 0 && all;
    unsynced_.erase(segment);
    std::erase(to_seal_, segment);
  }
  return all;
}

expected<std::uint64_t> shard::evict_to(std::uint64_t bytes) {
  if (auto locked = lock_for_writing(config_.lock_deadline); !locked) return fail(locked.error());
  const hold held(*this);
  if (auto cleared = mark_.remove_before_write(); !cleared) return fail(cleared.error());
  const auto before = measure().bytes;
  for (auto use = measure(); use.bytes > bytes; use = measure()) {
    if (is_bare(use)) break;
    if (auto evicted = evict_oldest(false); !evicted) return fail(evicted.error());
    if (auto removed = sync_and_remove_retired(); !removed) return fail(removed.error());
  }
  const auto after = measure().bytes;
  return before > after ? before - after : 0;
}

expected<void> shard::clear() {
  if (auto locked = lock_for_writing(config_.lock_deadline); !locked) return locked;
  const hold held(*this);
  if (auto cleared = mark_.remove_before_write(); !cleared) return cleared;
  if (auto begun = begin_segment(); !begun) return begun;
  head_.set(head_word::oldest, tail().segment);
  head_.set(head_word::live_bytes, 0);
  head_.set(head_word::retired_after, 0);
  head_.set(head_word::epoch, head_.get(head_word::epoch) + 1);
  remove_retired();
  // Durably: a rebuild would bring back what it finds.
  if (const int synced = files_.sync(directory_.get()); synced < 0)
    return fail(system_error(-synced, "sync", config_.path));
  return {};
}

} // namespace hearth::storage::disk
