#include "storage/disk/evict/segment_eviction.hpp"

#include "storage/disk/os/errors.hpp"
#include "storage/disk/segment/segment_scan.hpp"
#include "storage/disk/segment/segment_table.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace hearth::storage::disk {
namespace {

// The most that is appended under one hold of the lock.
constexpr std::size_t max_copied_records = 128;
constexpr std::uint64_t max_copied_bytes = std::uint64_t{512} << 10;

} // namespace

struct segment_eviction::evicted_segment {
  struct live_entry {
    entry_place place;
    bool hit;
  };
  std::uint64_t segment = 0;
  bool is_large = false;
  std::vector<live_entry> live;
  std::vector<std::uint64_t> hashes; // hashes of all values, live or not
  std::vector<entry_place> to_keep;
  std::uint64_t bytes = 0; // size of the live entries
  std::size_t kept = 0;
  std::uint64_t kept_bytes = 0;
  location kept_until{}; // must be synced before the segment is removed
};

/// A record read from the evicted segment.
struct segment_eviction::copied_record {
  entry_place from;
  std::string bytes;
};

expected<void> segment_eviction::evict_oldest(const keep_rule& rule) {
  const auto segment = choose();
  if (!segment) return fail(segment.error());
  if (*segment == 0) return {};
  auto one = look_at(*segment, rule);
  if (!one) return fail(one.error());
  if (auto kept = one->is_large ? keep_large(*one) : keep(*one); !kept)
    if (!rule.drop_when_full || kept.error().code() != errc::no_space) return kept;
  // If a record was flushed and then replaced, the record or its replacement must survive a power
  // loss.
  auto seen = files_.epoch();
  for (unsigned attempt = 0; attempt < 3; ++attempt) {
    sync_what_replaced(*one);
    if (seen == std::exchange(seen, files_.epoch())) break;
  }
  return retire(*one, seen);
}

// Whether a key of this hash may have a newer record that is not synced.
bool segment_eviction::is_replaced_unsynced(std::uint64_t hash) noexcept {
  const auto* index = files_.index.current();
  if (!index) return true;
  for (const slot* bucket : index->buckets_of(hash))
    for (const slot* one = bucket; one < bucket + slots_per_bucket; ++one) {
      const auto word = one->load(std::memory_order_relaxed);
      const auto where = slot_location(word);
      if (word != 0 && slot_tag(word) == tag_of(hash) && where.segment >= files_.oldest() &&
          !syncer_.is_synced({where.segment, where.offset + unit_bytes}))
        return true;
    }
  return false;
}

// Syncs if the newer record of an entry is not synced. A disk error does not stop the eviction: see
// segment_removal::may_remove.
void segment_eviction::sync_what_replaced(const evicted_segment& one) {
  std::vector<std::uint64_t> kept; // their copies are synced before the removal in any case
  for (const auto& entry : one.to_keep)
    kept.push_back(entry.hash);
  std::sort(kept.begin(), kept.end());
  const auto is_at_risk = [&](std::uint64_t hash) {
    return is_replaced_unsynced(hash) && !std::binary_search(kept.begin(), kept.end(), hash);
  };
  if (std::any_of(one.hashes.begin(), one.hashes.end(), is_at_risk)) (void)syncer_.sync_all();
}

// Returns the oldest segment, to which no process appends any more. 0: the shard has no segment.
expected<std::uint64_t> segment_eviction::choose() {
  const auto held = access_.lock();
  if (!held) return fail(held.error());
  if (auto cleared = files_.mark.remove_before_write(); !cleared) return fail(cleared.error());
  const auto segments = space_.measure().segments;
  const auto first = std::lower_bound(segments.begin(), segments.end(), files_.oldest());
  if (first == segments.end()) return 0;
  if (*first == files_.tail().segment)
    if (auto begun = active_.begin_next(); !begun) return fail(begun.error());
  return *first;
}

expected<segment_eviction::evicted_segment> segment_eviction::look_at(std::uint64_t segment,
                                                                      const keep_rule& rule) {
  const auto* index = files_.index.current();
  if (!index) return fail(files_.unmapped_index());
  evicted_segment one;
  one.segment = segment;
  one.is_large = read_large_record(files_.place(), segment).has_value();
  const int error =
      for_each_entry(files_.place(), segment, ~std::uint64_t{0}, [&](const entry_place& entry) {
        if (entry.kind != record_kind::value) return;
        one.hashes.push_back(entry.hash);
        const slot* at = index->find_exact(entry.hash, entry.where);
        if (!at) return;
        one.bytes += entry.bytes;
        one.live.push_back({entry, (at->load(std::memory_order_relaxed) & hit_bit) != 0});
      });
  if (error == EMFILE || error == ENFILE || error == ENOMEM)
    return fail(system_error(error, "read", files_.path_of_segment(segment)));
  if (segment < rule.keep_below) choose_kept(one, rule);
  return one;
}

// Keeps the entries that were hit, and then the others if the rule allows it: when records that
// were replaced or erased take most of the budget, there is room for them. Keeps at most half a
// segment, unless the rule allows more, so that the eviction frees some space; a large value costs
// nothing to keep.
void segment_eviction::choose_kept(evicted_segment& one, const keep_rule& rule) const {
  const bool keeps_unhit = files_.head.get(head_word::live_bytes) <= rule.keep_unhit_max_live_bytes;
  const bool keeps_all = one.is_large || rule.keeps_whole_segments;
  auto left = keeps_all ? ~std::uint64_t{0} : space_.copy_bytes();
  for (const bool hit : {true, false}) {
    if (!hit && !keeps_unhit) break;
    for (const auto& entry : one.live) {
      if (entry.hit != hit || entry.place.bytes > left) continue;
      left -= entry.place.bytes;
      one.to_keep.push_back(entry.place);
    }
  }
  std::sort(one.to_keep.begin(), one.to_keep.end(), [](const entry_place& a, const entry_place& b) {
    return a.where.offset < b.where.offset;
  });
}

expected<void> segment_eviction::keep(evicted_segment& one) {
  if (one.to_keep.empty()) return {};
  const auto batch_bytes = std::min(max_copied_bytes, space_.copy_bytes() / 2);
  segment_scan from(files_.place(), one.segment);
  std::vector<copied_record> batch;
  std::uint64_t bytes = 0;
  const auto append = [&]() -> expected<void> {
    if (batch.empty()) return {};
    const auto held = access_.lock();
    if (!held) return fail(held.error());
    bytes = 0;
    return append_copies(one, std::exchange(batch, {}));
  };
  for (const auto& entry : one.to_keep) {
    auto record = from.read_intact(entry.where);
    if (record.empty()) continue; // damaged: it is evicted with the segment
    bytes += record.size();
    batch.push_back({entry, std::move(record)});
    if (batch.size() < max_copied_records && bytes < batch_bytes) continue;
    if (auto appended = append(); !appended) return appended;
  }
  return append();
}

// The caller holds the lock.
expected<void> segment_eviction::append_copies(evicted_segment& one,
                                               const std::vector<copied_record>& batch) {
  std::size_t next = 0;
  while (next < batch.size()) {
    if (auto opened = active_.open(); !opened) return opened;
    append_batch work(files_.tail(), batch.size() - next);
    work.sequence = files_.head.get(head_word::sequence);
    for (; next < batch.size(); ++next) {
      if (work.end + batch[next].bytes.size() > files_.roll_limit() &&
          work.end > first_record_offset)
        break;
      plan_copy(work, batch[next]);
    }
    if (!work.items.empty()) {
      const auto wrote = active_.append(work);
      one.kept += wrote.complete;
      for (std::size_t i = 0; i < wrote.complete; ++i)
        one.kept_bytes += work.items[i].bytes;
      one.kept_until = files_.tail();
      if (wrote.complete < work.items.size()) return fail(wrote.why);
    }
    if (next < batch.size())
      if (auto begun = active_.begin_next(); !begun) return begun;
  }
  return {};
}

// Adds a copy, unless the entry has expired, or was replaced, erased or evicted since it was
// chosen.
void segment_eviction::plan_copy(append_batch& work, const copied_record& record) {
  const auto& from = record.from;
  auto* index = files_.index.current();
  slot* place = index ? index->find_exact(from.hash, from.where) : nullptr;
  record_header header;
  std::memcpy(&header, record.bytes.data(), sizeof header);
  if (!place || from.where.segment < files_.oldest() ||
      (header.expires_unix_ms != 0 && is_expired(header.expires_unix_ms, unix_time_ms())))
    return;
  const location at{work.start.segment, work.end};
  header.sequence = work.sequence + 1;
  seal(header, files_.config.store_id, at);
  work.add_copy(header, std::string_view(record.bytes).substr(sizeof header));
  work.items.push_back({0, place, make_slot(from.hash, at), from.bytes, from.bytes, work.end, false,
                        from.hash, header.sequence});
}

// Keeps a large value's segment unchanged under a number above all others: its file gets a second
// name, which the slot points at. The eviction removes the first name.
expected<void> segment_eviction::keep_large(evicted_segment& one) {
  if (one.to_keep.empty()) return {};
  const auto& entry = one.to_keep.front();
  const auto record = read_large_record(files_.place(), one.segment);
  if (!record || is_expired(record->expires_unix_ms, unix_time_ms())) return {};
  const auto held = access_.lock();
  if (!held) return fail(held.error());
  auto* index = files_.index.current();
  slot* place = index ? index->find_exact(entry.hash, entry.where) : nullptr;
  if (!place || one.segment < files_.oldest()) return {};
  const auto number = active_.take_number();
  if (!number) return fail(number.error());
  const location at{*number, first_record_offset};
  const auto name = segment_name(*number);
  files_.head.set(head_word::pending, at);
  const int linked = files_.system.link_at(files_.directory.get(),
                                           segment_name(one.segment).c_str(), name.c_str());
  if (linked == 0) {
    const planned_record moved{0, place, make_slot(entry.hash, at), 0, 0, 0, false};
    index_.publish({&moved, 1});
    one.kept = 1;
    one.kept_bytes = entry.bytes;
    one.kept_until = at;
  }
  files_.head.set(head_word::pending, 0);
  if (linked < 0 && linked != -EEXIST)
    return fail(system_error(-linked, "link", files_.path_of(name)));
  return {};
}

// Moves `oldest` past the segment. `epoch`: the epoch at which the newer records of its entries
// were last seen synced.
expected<void> segment_eviction::retire(const evicted_segment& one, std::uint64_t epoch) {
  const auto held = access_.lock();
  if (!held) return fail(held.error());
  if (files_.oldest() > one.segment) return {}; // another process evicted it
  files_.counts.add(counter::kept_by_hit, one.kept);
  files_.counts.add(counter::evicted, one.live.size() - std::min(one.live.size(), one.kept));
  const auto live = files_.head.get(head_word::live_bytes);
  files_.head.set(head_word::live_bytes, live - std::min(live, one.bytes - one.kept_bytes));
  files_.note_dropped(); // `live` lacks the entries that could not be read
  if (one.kept > 0) files_.head.set(head_word::retired_after, one.kept_until);
  if (epoch != files_.epoch()) files_.head.set(head_word::retired_after, files_.tail());
  const auto segments = space_.measure().segments;
  const auto next = std::upper_bound(segments.begin(), segments.end(), one.segment);
  files_.head.set(head_word::oldest, next != segments.end() ? std::min(*next, files_.tail().segment)
                                                            : files_.tail().segment);
  return {};
}

} // namespace hearth::storage::disk
