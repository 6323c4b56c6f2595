// Evicting the oldest segment: what of it was hit is appended again first.
//
// The lock is held for steps of bounded length only: the segment is looked through and its records
// are read without it, and appended a batch at a time. Whoever replaces or erases one meanwhile is
// noticed by the slot, which does not point at the old place any more.
#include "storage/disk/errors.hpp"
#include "storage/disk/shard.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace hearth::storage::disk {
namespace {

// So much is appended under one lock.
constexpr std::size_t max_copied_records = 128;
constexpr std::uint64_t max_copied_bytes = std::uint64_t{512} << 10;

} // namespace

struct shard::evicted_segment {
  struct live_entry {
    entry_place place;
    bool hit;
  };
  std::uint64_t segment = 0;
  bool is_large = false;
  std::vector<live_entry> live;
  std::vector<std::uint64_t> hashes; // of all values, live or not
  std::vector<entry_place> to_keep;
  std::uint64_t bytes = 0; // of what is live
  std::size_t kept = 0;
  std::uint64_t kept_bytes = 0;
  location kept_until{}; // what has to be synced before the segment may go
};

/// A record read from the segment that goes.
struct shard::copied_record {
  entry_place from;
  std::string bytes;
};

expected<void> shard::evict_oldest(keep_rule rule) {
  const auto segment = choose_victim();
  if (!segment) return fail(segment.error());
  if (*segment == 0) return {};
  auto one = look_at(*segment, rule);
  if (!one) return fail(one.error());
  if (auto kept = one->is_large ? keep_large(*one) : keep(*one); !kept)
    if (!rule.drop_when_full || kept.error().code() != errc::no_space) return kept;
  // Of a flushed record and the newer one that replaced it, one has to survive a power loss.
  auto seen = epoch();
  for (unsigned attempt = 0; attempt < 3; ++attempt) {
    sync_what_replaced(*one);
    if (seen == std::exchange(seen, epoch())) break;
  }
  return retire(*one, seen);
}

// What may be the newer record of such a key is not synced.
bool shard::is_replaced_unsynced(std::uint64_t hash) noexcept {
  const auto* index = current_index();
  if (!index) return true;
  for (const slot* bucket : index->buckets_of(hash))
    for (const slot* one = bucket; one < bucket + slots_per_bucket; ++one) {
      const auto word = one->load(std::memory_order_relaxed);
      const auto where = slot_location(word);
      if (word != 0 && slot_tag(word) == tag_of(hash) && where.segment >= oldest() &&
          !is_synced({where.segment, where.offset + unit_bytes}))
        return true;
    }
  return false;
}

// An error of the disk stops no eviction: see `may_remove`.
bool shard::sync_what_replaced(const evicted_segment& one) {
  std::vector<std::uint64_t> kept; // their copies are waited for in any case
  for (const auto& entry : one.to_keep)
    kept.push_back(entry.hash);
  std::sort(kept.begin(), kept.end());
  const auto is_at_risk = [&](std::uint64_t hash) {
    return is_replaced_unsynced(hash) && !std::binary_search(kept.begin(), kept.end(), hash);
  };
  return std::any_of(one.hashes.begin(), one.hashes.end(), is_at_risk) && sync_all().has_value();
}

// The oldest segment; it is not appended to any more. 0: there is none.
expected<std::uint64_t> shard::choose_victim() {
  if (auto locked = lock_for_writing(config_.lock_deadline); !locked) return fail(locked.error());
  const hold held(*this);
  if (auto cleared = mark_.remove_before_write(); !cleared) return fail(cleared.error());
  const auto segments = measure().segments;
  const auto first = std::lower_bound(segments.begin(), segments.end(), oldest());
  if (first == segments.end()) return 0;
  if (*first == tail().segment)
    if (auto begun = begin_segment(); !begun) return fail(begun.error());
  return *first;
}

expected<shard::evicted_segment> shard::look_at(std::uint64_t segment, keep_rule rule) {
  const auto* index = current_index();
  if (!index) return fail(errc::io, "the index of " + config_.path.string() + " cannot be mapped");
  evicted_segment one;
  one.segment = segment;
  one.is_large = large_record(segment).has_value();
  const int error =
      for_each_entry(windows_.place(), segment, ~std::uint64_t{0}, [&](const entry_place& entry) {
        if (entry.kind != record_kind::value) return;
        one.hashes.push_back(entry.hash);
        const slot* at = index->find_exact(entry.hash, entry.where);
        if (!at) return;
        one.bytes += entry.bytes;
        one.live.push_back({entry, (at->load(std::memory_order_relaxed) & hit_bit) != 0});
      });
  if (error == EMFILE || error == ENFILE || error == ENOMEM)
    return fail(system_error(error, "read", path_of(segment_name(segment))));
  const bool is_roomy = head_.get(head_word::live_bytes) <= rule.roomy;
  if (segment < rule.below) choose_kept(one, is_roomy);
  return one;
}

// What was hit; and when most of the budget is taken by what was replaced or erased, the rest too,
// for then there is room for it. At most half a segment, so that something is freed; a large value
// costs nothing to keep.
void shard::choose_kept(evicted_segment& one, bool is_roomy) const {
  auto left = one.is_large ? ~std::uint64_t{0} : copy_bytes();
  for (const bool hit : {true, false}) {
    if (!hit && !is_roomy) break;
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

expected<void> shard::keep(evicted_segment& one) {
  if (one.to_keep.empty()) return {};
  const auto batch_bytes = std::min(max_copied_bytes, copy_bytes() / 2);
  segment_scan from(windows_.place(), one.segment);
  std::vector<copied_record> batch;
  std::uint64_t bytes = 0;
  const auto append = [&]() -> expected<void> {
    if (batch.empty()) return {};
    if (auto locked = lock_for_writing(config_.lock_deadline); !locked) return locked;
    const hold held(*this);
    bytes = 0;
    return append_copies(one, std::exchange(batch, {}));
  };
  for (const auto& entry : one.to_keep) {
    auto record = from.read_intact(entry.where);
    if (record.empty()) continue; // damaged: it goes with the segment
    bytes += record.size();
    batch.push_back({entry, std::move(record)});
    if (batch.size() < max_copied_records && bytes < batch_bytes) continue;
    if (auto appended = append(); !appended) return appended;
  }
  return append();
}

// With the lock held.
expected<void> shard::append_copies(evicted_segment& one, const std::vector<copied_record>& batch) {
  std::size_t next = 0;
  while (next < batch.size()) {
    if (auto opened = open_active(); !opened) return opened;
    append_batch work(tail(), batch.size() - next);
    work.sequence = head_.get(head_word::sequence);
    for (; next < batch.size(); ++next) {
      if (work.end + batch[next].bytes.size() > roll_limit() && work.end > first_record_offset)
        break;
      plan_copy(work, batch[next]);
    }
    if (!work.items.empty()) {
      const auto wrote = write_batch(work);
      one.kept += wrote.complete;
      for (std::size_t i = 0; i < wrote.complete; ++i)
        one.kept_bytes += work.items[i].bytes;
      one.kept_until = tail();
      if (wrote.complete < work.items.size()) return fail(wrote.why);
    }
    if (next < batch.size())
      if (auto begun = begin_segment(); !begun) return begun;
  }
  return {};
}

// Unless it was replaced, erased or evicted since it was looked at, or is over.
void shard::plan_copy(append_batch& work, const copied_record& record) {
  const auto& from = record.from;
  auto* index = current_index();
  slot* place = index ? index->find_exact(from.hash, from.where) : nullptr;
  record_header header;
  std::memcpy(&header, record.bytes.data(), sizeof header);
  if (!place || from.where.segment < oldest() ||
      (header.expires_unix_ms != 0 && is_expired(header.expires_unix_ms, unix_time_ms())))
    return;
  const location at{work.start.segment, work.end};
  header.sequence = work.sequence + 1;
  seal(header, config_.store_id, at);
  work.add_copy(header, std::string_view(record.bytes).substr(sizeof header));
  work.items.push_back({0, place, make_slot(from.hash, at), from.bytes, from.bytes, work.end, false,
                        from.hash, header.sequence});
}

// A large value's segment goes on under a number above all others, as it is: a second name of the
// file, which the slot points at; the first goes with the segment.
expected<void> shard::keep_large(evicted_segment& one) {
  if (one.to_keep.empty()) return {};
  const auto& entry = one.to_keep.front();
  const auto record = large_record(one.segment);
  if (!record || is_expired(record->expires_unix_ms, unix_time_ms())) return {};
  if (auto locked = lock_for_writing(config_.lock_deadline); !locked) return locked;
  const hold held(*this);
  auto* index = current_index();
  slot* place = index ? index->find_exact(entry.hash, entry.where) : nullptr;
  if (!place || one.segment < oldest()) return {};
  const auto number = take_segment_number();
  if (!number) return fail(number.error());
  const location at{*number, first_record_offset};
  const auto name = segment_name(*number);
  head_.set(head_word::pending, at);
  const int linked =
      files_.link_at(directory_.get(), segment_name(one.segment).c_str(), name.c_str());
  if (linked == 0) {
    const planned_record moved{0, place, make_slot(entry.hash, at), 0, 0, 0, false};
    publish({&moved, 1});
    one.kept = 1;
    one.kept_bytes = entry.bytes;
    one.kept_until = at;
  }
  head_.set(head_word::pending, 0);
  if (linked < 0 && linked != -EEXIST) return fail(system_error(-linked, "link", path_of(name)));
  return {};
}

// `epoch`: when what replaced its entries was last seen synced.
expected<void> shard::retire(const evicted_segment& one, std::uint64_t epoch) {
  if (auto locked = lock_for_writing(config_.lock_deadline); !locked) return locked;
  const hold held(*this);
  if (oldest() > one.segment) return {}; // somebody else did
  counters_.add(counter::kept_by_hit, one.kept);
  counters_.add(counter::evicted, one.live.size() - std::min(one.live.size(), one.kept));
  const auto live = head_.get(head_word::live_bytes);
  head_.set(head_word::live_bytes, live - std::min(live, one.bytes - one.kept_bytes));
  note_dropped(); // what of it could not be read is not in `live`
  if (one.kept > 0) head_.set(head_word::retired_after, one.kept_until);
  if (epoch != this->epoch()) head_.set(head_word::retired_after, tail());
  const auto segments = measure().segments;
  const auto next = std::upper_bound(segments.begin(), segments.end(), one.segment);
  head_.set(head_word::oldest,
            next != segments.end() ? std::min(*next, tail().segment) : tail().segment);
  return {};
}

} // namespace hearth::storage::disk
