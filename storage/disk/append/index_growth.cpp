#include "storage/disk/append/index_growth.hpp"

#include "storage/disk/os/errors.hpp"
#include "storage/disk/segment/segment_table.hpp"

#include <algorithm>
#include <cerrno>
#include <span>

namespace hearth::storage::disk {
namespace {

std::uint64_t grown(std::uint64_t buckets) noexcept {
  constexpr std::uint64_t doubling_up_to = 8192;
  return buckets < doubling_up_to ? buckets * 2 : buckets * 3 / 2;
}

} // namespace

// Whether the index is nearly empty although both buckets of a key are full: then keys were made to
// collide, and a larger index would not help.
bool index_growth::is_flooded() const noexcept {
  const auto* index = files_.index.newest();
  return live_slots(*index) < index->slots() / 8;
}

std::uint64_t index_growth::live_slots(const index_table& index) const noexcept {
  const auto lowest = files_.oldest();
  std::uint64_t live = 0;
  for (std::uint64_t i = 0; i < index.slots(); ++i)
    live += slot_segment(index.at(i).load(std::memory_order_relaxed)) >= lowest;
  return live;
}

void index_growth::drop_oldest_of(std::uint64_t hash) {
  const auto* index = files_.index.newest();
  slot* victim = nullptr;
  for (slot* bucket : index->buckets_of(hash))
    for (slot* one = bucket; one < bucket + slots_per_bucket; ++one)
      if (!victim || slot_location(one->load()).packed() < slot_location(victim->load()).packed())
        victim = one;
  const planned_record dropped{0, victim, 0, 0, 0, 0, false};
  files_.note_dropped();
  index_.publish({&dropped, 1});
  files_.counts.add(counter::evicted);
}

// The old and the new index use disk space at the same time: the shard may exceed the budget by one
// segment meanwhile.
bool index_growth::has_room_to_grow() const noexcept {
  const auto* index = files_.index.newest();
  const auto bytes = grown(index->buckets()) * slots_per_bucket * sizeof(slot);
  const auto use = space_.measure();
  return use.bytes + std::min(bytes, 2 * files_.roll_limit()) <=
             space_.limit(use) + files_.roll_limit() ||
         space_.is_bare(use);
}

expected<void> index_growth::grow() {
  auto* old = files_.index.current();
  if (!old) return fail(files_.unmapped_index());
  return resize(grown(old->buckets()));
}

expected<void> index_growth::grow_or_drop(std::uint64_t hash, bool flooded) {
  if (!flooded) return grow();
  drop_oldest_of(hash);
  return {};
}

expected<bool> index_growth::make_slot(std::uint64_t hash) {
  const bool flooded = is_flooded();
  if (!flooded && !has_room_to_grow()) return false;
  if (auto done = grow_or_drop(hash, flooded); !done) return fail(done.error());
  return true;
}

expected<slot*> index_growth::claim_or_make(std::uint64_t hash) {
  constexpr unsigned max_attempts = 4;
  for (unsigned attempt = 0; attempt < max_attempts; ++attempt) {
    if (slot* place = index_.claim(word_set{}, hash)) return place;
    if (auto done = grow_or_drop(hash, is_flooded()); !done) return fail(done.error());
  }
  return nullptr;
}

void index_growth::shrink() {
  const auto* index = files_.index.current();
  const auto live = index ? live_slots(*index) : 0;
  if (index && buckets_for(live) * 2 < index->buckets()) (void)resize(buckets_for(live));
}

// Puts the slots of a segment's records into another index. It uses the records that this process
// remembers if it wrote the whole segment, and else reads them. Adds up the bytes of live records.
// Returns 0 or an errno.
int index_growth::move_slots(const index_table& from, const index_table& to, std::uint64_t segment,
                             std::uint64_t& live) const {
  const auto move = [&](std::uint64_t hash, location where, std::uint64_t bytes) {
    const slot* old = from.find_exact(hash, where);
    if (!old) return;
    slot* made = to.find_free(hash, [](const slot*, std::uint64_t w) { return w == 0; });
    if (!made) return;
    made->store(old->load(std::memory_order_relaxed), std::memory_order_relaxed);
    live += bytes;
  };
  const auto* known = written_.find(segment, files_.tail());
  if (!known) {
    const auto limit = segment == files_.tail().segment ? files_.tail().offset : ~std::uint64_t{0};
    return for_each_entry(files_.place(), segment, limit, [&](const entry_place& entry) {
      move(entry.hash, entry.where, entry.bytes);
    });
  }
  constexpr std::size_t together = 32;
  for (std::size_t first = 0; first < known->size(); first += together) {
    const auto some = std::span(*known).subspan(first, std::min(together, known->size() - first));
    for (const auto& entry : some) {
      from.touch(entry.hash);
      to.touch(entry.hash);
    }
    for (const auto& entry : some)
      move(entry.hash, {segment, offset_of(entry)}, bytes_of(entry));
  }
  return 0;
}

expected<void> index_growth::resize(std::uint64_t buckets) {
  auto* old = files_.index.current();
  if (!old) return fail(files_.unmapped_index());
  const auto generation = old->generation() + 1;
  int error = 0;
  auto made = files_.index.make(generation, buckets, error);
  if (!made) return fail(system_error(error, "make", files_.path_of(index_name(generation))));
  std::uint64_t live = 0;
  for (const auto segment : space_.measure().segments) {
    if (segment < files_.oldest()) continue;
    error = move_slots(*old, *made, segment, live);
    if (error == EMFILE || error == ENFILE || error == ENOMEM)
      return fail(system_error(error, "read", files_.path_of_segment(segment)));
  }
  files_.head.set(head_word::index_stale, 1);
  files_.head.set(head_word::index_sum, made->sum());
  files_.head.set(head_word::generation, generation);
  files_.head.set(head_word::index_stale, 0);
  files_.head.set(head_word::live_bytes, live);
  const auto former = index_name(old->generation());
  files_.index.adopt(std::move(made));
  files_.remove(former);
  return {};
}

} // namespace hearth::storage::disk
