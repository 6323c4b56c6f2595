#include "storage/disk/repair/recovery.hpp"

#include "storage/disk/os/errors.hpp"

#include <cerrno>
#include <utility>
#include <vector>

namespace hearth::storage::disk {

// The torn parts of a killed writer's group.
struct recovery::torn_group {
  std::vector<location> records;                               // torn records with a whole header
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges; // offsets of all torn bytes
};

expected<void> recovery::put_in_order() {
  auto& head = files_.head;
  if (!files_.opened_head.is_in_place())
    return fail(errc::not_found,
                files_.config.path.string() + " was removed or replaced; open the store again");
  if (!files_.is_head_usable() || head.get(head_word::boot) != files_.config.boot)
    return rebuild_.run();
  if (!files_.index.current()) {
    const int error = files_.index.why_unmapped();
    if (is_process_error(error))
      return fail(system_error(error, "map the index of", files_.config.path));
    if (!files_.index.current()) return rebuild_.run();
  }
  if (head.get(head_word::pending) != 0) return finish_pending();
  if (head.get(head_word::reserved) != head.get(head_word::active))
    head.set(head_word::reserved, head.get(head_word::active));
  if (head.get(head_word::index_stale) != 0) sum_index();
  return {};
}

// Clears the mark first: a reader that drops a damaged entry meanwhile sets it again.
void recovery::sum_index() noexcept {
  files_.head.set(head_word::index_stale, 0);
  files_.head.set(head_word::index_sum, files_.index.current()->sum());
}

// A writer was killed between storing `pending` and the end of its group. Its caller got no answer,
// so each record may count or not: this publishes the intact ones.
expected<void> recovery::finish_pending() {
  const auto start = files_.head.place(head_word::pending);
  const auto reserved = files_.head.place(head_word::reserved);
  const bool shared = start.segment == files_.tail().segment; // false: a large value's segment
  segment_scan scan(files_.place(), start.segment);
  if (is_process_error(scan.error()))
    return fail(system_error(scan.error(), "read", files_.path_of_segment(start.segment)));
  scan.limit(start.offset, shared ? reserved.offset : ~std::uint64_t{0});
  const auto torn = apply_pending(scan);
  if (!torn) return fail(torn.error());
  if (scan.error() && scan.error() != ENOENT)
    return fail(system_error(scan.error(), "read", files_.path_of_segment(start.segment)));
  if (shared) files_.head.set(head_word::active, reserved);
  if (shared && !torn->ranges.empty())
    if (auto buried = bury(*torn, start); !buried) return buried;
  sum_index();
  files_.move_epoch();
  files_.head.set(head_word::pending, 0);
  return {};
}

expected<recovery::torn_group> recovery::apply_pending(segment_scan& scan) {
  torn_group torn;
  record_header header;
  location where;
  while (scan.next(header, where)) {
    if (header.kind != record_kind::value && header.kind != record_kind::tombstone) continue;
    if (!scan.is_intact(header, where)) {
      if (scan.error()) break;
      torn.records.push_back(where);
      torn.ranges.emplace_back(where.offset, where.offset + record_size(header));
      continue;
    }
    auto applied = apply_record(header, scan.identity(header, where), where);
    if (!applied) return fail(applied.error());
  }
  torn.ranges.insert(torn.ranges.end(), scan.damage().begin(), scan.damage().end());
  return torn;
}

// Makes torn bytes count neither as a record nor as damage from now on.
expected<void> recovery::bury(const torn_group& torn, location start) {
  if (auto erased = erase_headers(files_, torn.records, false); !erased) return erased;
  if (active_.append_hole(start)) return {};
  for (const auto& [begin, end] : torn.ranges)
    zero_range(files_.place(), start.segment, begin, end);
  return {};
}

expected<void> recovery::apply_record(const record_header& header, const std::string& identity,
                                      location where) {
  const auto text = std::string_view(identity);
  const auto cache = cache_id::make(text.substr(0, header.name_bytes),
                                    text.substr(header.name_bytes, header.version_bytes));
  if (!cache) return {}; // no cache can have this name, so no caller can request the entry
  const auto key = text.substr(header.name_bytes + header.version_bytes);
  const auto old = index_.find(entry_key(*cache, key, header.hash));
  // If a large value's segment has two names, the later one counts.
  if (old.where &&
      (old.header.sequence > header.sequence ||
       (old.header.sequence == header.sequence && slot_segment(old.word) >= where.segment)))
    return {};
  if (header.kind == record_kind::tombstone) {
    if (old.where) old.where->store(0, std::memory_order_release);
    return {};
  }
  slot* place = old.where;
  if (!place) {
    const auto made = growth_.claim_or_make(header.hash);
    if (!made) return fail(made.error());
    place = *made;
  }
  if (place) place->store(make_slot(header.hash, where), std::memory_order_release);
  return {};
}

} // namespace hearth::storage::disk
