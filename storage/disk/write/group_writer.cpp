#include "storage/disk/write/group_writer.hpp"

#include "storage/disk/os/errors.hpp"

#include <algorithm>

namespace hearth::storage::disk {
namespace {

// A request is planned again after a segment was begun or the index grown for it. More retries than
// this are a bug, reported as an error instead of a loop.
constexpr unsigned max_retries = 8;

} // namespace

std::uint64_t group_writer::apply(std::span<write_request> group) {
  const auto moves_before = index_.epoch_moves();
  std::vector<prepared_write> ready(group.size());
  const auto apply_range = [&](std::size_t begin, std::size_t end) {
    if (begin < end)
      apply_small(group.subspan(begin, end - begin), std::span(ready).subspan(begin, end - begin));
  };
  std::size_t begin = 0;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (!files_.is_writable()) {
      refuse(group[i], files_.refusal(), files_.counts);
      continue;
    }
    const auto flaw = flaw_of(group[i], files_.config);
    if (flaw.text().empty()) prepare(group[i], files_.config, ready[i]);
    if (flaw.text().empty() && !is_large(ready[i])) continue;
    apply_range(begin, i);
    begin = i + 1;
    if (flaw.text().empty())
      large_.apply(group[i], ready[i]);
    else
      refuse(group[i], flaw, files_.counts);
  }
  if (files_.is_writable()) apply_range(begin, group.size());
  return index_.epoch_moves() - moves_before;
}

// A tombstone is never large, however long its key.
bool group_writer::is_large(const prepared_write& ready) const noexcept {
  return ready.header.kind == record_kind::value && record_size(ready.header) > files_.large_from();
}

// Loads the buckets of all keys into the cache before the lock is taken, and the headers of the
// records that the group may replace.
void group_writer::touch_index(std::span<const write_request> group) const noexcept {
  const auto* index = files_.index.newest();
  if (!index) return;
  for (const auto& request : group)
    index->touch(request.key.hash);
  for (const auto& request : group)
    touch_records(*index, request.key.hash);
}

void group_writer::touch_records(const index_table& index, std::uint64_t hash) const noexcept {
  for (const slot* bucket : index.buckets_of(hash))
    for (const slot* one = bucket; one < bucket + slots_per_bucket; ++one) {
      const auto word = one->load(std::memory_order_relaxed);
      if (word == 0 || slot_tag(word) != tag_of(hash)) continue;
      const auto where = slot_location(word);
      files_.windows.prefetch(where.segment, where.offset, segment_windows::header_bytes);
    }
}

void group_writer::apply_small(std::span<write_request> group, std::span<prepared_write> ready) {
  constexpr unsigned max_waits = 64; // waits for room that other processes took again
  unsigned waits = 0;
  while (!group.empty()) {
    const auto part = std::min(group.size(), max_batch_records);
    touch_index(group.first(part));
    std::size_t done = part;
    if (const auto held = access_.lock(); held) {
      files_.counts.add(counter::groups);
      done = append_all(group.first(part), ready.first(part));
    } else {
      for (auto& request : group.first(part))
        refuse(request, held.error(), files_.counts);
    }
    if (done < part) {
      auto room = eviction_.make_room(space_.room_to_roll());
      if (room && ++waits > max_waits)
        room = fail(errc::busy, "others fill " + files_.config.path.string() +
                                    " faster than it can be evicted; try again");
      if (!room) refuse(group[done++], room.error(), files_.counts);
    }
    group = group.subspan(done);
    ready = ready.subspan(done);
  }
  eviction_.catch_up_soon();
}

// Plans requests from `number` on until one does not fit, and moves `number` to that one.
group_writer::plan_result group_writer::plan_from(append_batch& work,
                                                  std::span<write_request> group,
                                                  std::span<prepared_write> ready,
                                                  std::size_t& number) {
  for (; number < group.size(); ++number) {
    const auto result = plan(work, group[number], ready[number], number);
    if (result != plan_result::decided) return result;
  }
  return plan_result::decided;
}

// Returns how many requests are decided: fewer than all when there is no room for the next.
std::size_t group_writer::append_all(std::span<write_request> group,
                                     std::span<prepared_write> ready) {
  std::size_t number = 0;
  unsigned retries = 0;
  while (number < group.size()) {
    if (auto opened = active_.open(); !opened) {
      refuse(group[number++], opened.error(), files_.counts);
      continue;
    }
    append_batch work(files_.tail(), group.size() - number);
    work.sequence = files_.head.get(head_word::sequence);
    const auto first = number;
    const auto reason = plan_from(work, group, ready, number);
    if (number > first) retries = 0;
    if (!work.items.empty()) commit(work, group);
    if (reason == plan_result::decided || reason == plan_result::batch_full) continue;
    auto has_room = reason == plan_result::segment_full ? active_.roll()
                                                        : growth_.make_slot(group[number].key.hash);
    if (has_room && !*has_room) return number;
    if (has_room && ++retries > max_retries)
      has_room = fail(errc::internal, "no place for a record in " + files_.config.path.string());
    if (!has_room) refuse(group[number++], has_room.error(), files_.counts);
  }
  return number;
}

group_writer::plan_result group_writer::plan(append_batch& work, write_request& request,
                                             prepared_write& ready, std::size_t number) {
  if (work.is_full() || work.hashes.contains(request.key.hash | 1)) return plan_result::batch_full;
  const auto old = index_.find(request.key);
  if (old.error) {
    refuse(request, system_error(old.error, "look up a key in", files_.config.path), files_.counts);
    return plan_result::decided;
  }
  const bool present = old.is_live(old.header.expires_unix_ms ? unix_time_ms() : 0);
  if (!present) index_.outdate_missing(request.kind);
  if (is_answered(request, old.header, present, files_.counts)) return plan_result::decided;
  return plan_append(work, request, ready, number, old);
}

group_writer::plan_result group_writer::plan_append(append_batch& work,
                                                    const write_request& request,
                                                    prepared_write& ready, std::size_t number,
                                                    const found_entry& old) {
  // A record must not be in a lower segment than the one that it replaces: else it would be evicted
  // first, and a rebuild would bring the old record back.
  if (old.where && slot_segment(old.word) > work.start.segment) return plan_result::segment_full;
  auto& header = ready.header;
  const location at{work.start.segment, work.end};
  if (at.offset + record_size(header) > files_.roll_limit()) return plan_result::segment_full;
  slot* place = old.where ? old.where : index_.claim(work.slots, header.hash);
  if (!place) return plan_result::index_full;
  header.sequence = work.sequence + 1;
  seal(header, files_.config.store_id, at);
  work.add(header, request.key,
           header.kind == record_kind::tombstone ? std::string_view{}
                                                 : request.value.metadata_bytes(),
           ready.payload);
  work.hashes.insert(header.hash | 1);
  work.slots.insert(reinterpret_cast<std::uintptr_t>(place));
  if (old.where && slot_location(old.word).offset == first_record_offset)
    files_.may_have_dead_large.store(true, std::memory_order_relaxed);
  const bool erases = header.kind == record_kind::tombstone;
  work.items.push_back({number, place, erases ? 0 : make_slot(header.hash, at),
                        old.where ? record_size(old.header) : 0, record_size(header), work.end,
                        old.where != nullptr, header.hash, header.sequence});
  return plan_result::decided;
}

void group_writer::commit(append_batch& work, std::span<write_request> group) {
  const auto wrote = active_.append(work);
  for (std::size_t i = 0; i < work.items.size(); ++i) {
    auto& request = group[work.items[i].request];
    if (i < wrote.complete)
      confirm(request, files_.counts);
    else
      refuse(request, wrote.why, files_.counts);
  }
}

} // namespace hearth::storage::disk
