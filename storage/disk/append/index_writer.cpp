#include "storage/disk/append/index_writer.hpp"

#include <algorithm>
#include <cerrno>

namespace hearth::storage::disk {

found_entry index_writer::find(const entry_key& key) noexcept {
  found_entry result;
  auto* index = generations_.current();
  if (!index) {
    result.error = EIO;
    return result;
  }
  const auto lowest = head_.get(head_word::oldest);
  for (slot* bucket : index->buckets_of(key.hash)) {
    for (slot* one = bucket; one < bucket + slots_per_bucket; ++one) {
      const auto word = one->load(std::memory_order_acquire);
      if (word == 0 || slot_tag(word) != tag_of(key.hash) || slot_segment(word) < lowest) continue;
      record_header header;
      int error = 0;
      const auto found = entries_.read(word, key, lowest, header, nullptr, &error);
      if (found == entry_match::match) return {one, word, header, 0};
      if (found == entry_match::unreadable) result.error = error ? error : EIO;
    }
  }
  return result;
}

slot* index_writer::claim(const word_set& taken, std::uint64_t hash) noexcept {
  auto* index = generations_.current();
  if (!index) return nullptr;
  const auto lowest = head_.get(head_word::oldest);
  return index->find_free(hash, [&](const slot* one, std::uint64_t word) {
    return (word == 0 || slot_segment(word) < lowest) &&
           !taken.contains(reinterpret_cast<std::uintptr_t>(one));
  });
}

// This process knows its own writes, so its own memory stays valid. It may still hold other dropped
// entries; the next process that writes moves the epoch again. This costs a process that writes
// alone nothing, others one or two moves after an eviction.
void index_writer::outdate_dropped_elsewhere() noexcept {
  for (auto holder = head_.get(head_word::dropped);
       holder != nobody_holds && holder != files_.opening_id;
       holder = head_.get(head_word::dropped)) {
    files_.move_epoch();
    ++epoch_moves_;
    const auto next = holder == all_may_hold ? files_.opening_id : nobody_holds;
    if (head_.replace(head_word::dropped, holder, next)) return;
  }
}

// A process notes that it holds an entry, then looks whether the epoch has moved: so the word
// changes before the epoch does.
void index_writer::outdate_unpersisted_elsewhere() noexcept {
  std::uint64_t holder = 0;
  if (!head_.load(head_word::unpersisted, holder))
    head_.set(head_word::unpersisted, holder); // damaged
  const auto next = holder == all_may_hold ? files_.opening_id : nobody_holds;
  (void)head_.replace(head_word::unpersisted, holder, next); // or another process has noted more
  files_.move_epoch();
  ++epoch_moves_;
}

void index_writer::publish(std::span<const planned_record> items) noexcept {
  auto* index = generations_.newest();
  auto sum = head_.get(head_word::index_sum);
  auto live = static_cast<std::int64_t>(head_.get(head_word::live_bytes));
  bool replaced = false;
  for (const auto& one : items) {
    const auto position = index->position_of(one.where);
    const auto before = one.where->exchange(one.word, std::memory_order_acq_rel);
    sum += slot_sum(one.word, position) - slot_sum(before, position);
    live += static_cast<std::int64_t>(one.word ? one.bytes : 0);
    live -= static_cast<std::int64_t>(one.old_bytes);
    replaced = replaced || one.replaces;
  }
  head_.set(head_word::index_sum, sum);
  head_.set(head_word::live_bytes, static_cast<std::uint64_t>(std::max<std::int64_t>(live, 0)));
  // The epoch moves after the slots: a reader that sees the old epoch and reads afterwards may get
  // the new entry, but one that sees the new epoch never gets the old entry.
  if (!replaced) return;
  files_.move_epoch();
  ++epoch_moves_;
}

} // namespace hearth::storage::disk
