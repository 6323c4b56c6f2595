// When both buckets of a key are full: a larger index, or one entry less.
#include "storage/disk/errors.hpp"
#include "storage/disk/shard.hpp"

#include <algorithm>
#include <cerrno>
#include <span>

namespace hearth::storage::disk {

// Both buckets of a key are full while the index is nearly empty: keys were made to collide. To
// grow would only make a larger index that is emptier still.
bool shard::is_flooded() const noexcept {
  const auto* index = index_.load(std::memory_order_acquire);
  return live_slots(*index) < index->slots() / 8;
}

std::uint64_t shard::live_slots(const index_table& index) const noexcept {
  const auto lowest = oldest();
  std::uint64_t live = 0;
  for (std::uint64_t i = 0; i < index.slots(); ++i)
    live += slot_segment(index.at(i).load(std::memory_order_relaxed)) >= lowest;
  return live;
}

expected<void> shard::drop_oldest_of(std::uint64_t hash) {
  const auto* index = index_.load(std::memory_order_acquire);
  slot* victim = nullptr;
  for (slot* bucket : index->buckets_of(hash))
    for (slot* one = bucket; one < bucket + slots_per_bucket; ++one)
      if (!victim || slot_location(one->load()).packed() < slot_location(victim->load()).packed())
        victim = one;
  const planned_record dropped{0, victim, 0, 0, 0, 0, false};
  note_dropped();
  publish({&dropped, 1});
  counters_.add(counter::evicted);
  return {};
}

namespace {

std::uint64_t grown(std::uint64_t buckets) noexcept {
  constexpr std::uint64_t doubling_up_to = 8192;
  return buckets < doubling_up_to ? buckets * 2 : buckets * 3 / 2;
}

} // namespace

// Old and new are there at once for a moment, within the segment by which the budget may be passed.
bool shard::has_room_to_grow() const noexcept {
  const auto* index = index_.load(std::memory_order_acquire);
  const auto bytes = grown(index->buckets()) * slots_per_bucket * sizeof(slot);
  const auto use = measure();
  return use.bytes + std::min(bytes, 2 * roll_limit()) <= budget(use) + roll_limit() ||
         is_bare(use);
}

expected<void> shard::grow() {
  auto* old = current_index();
  if (!old) return fail(errc::io, "the index of " + config_.path.string() + " cannot be mapped");
  return resize_index(grown(old->buckets()));
}

// After much was evicted or cleared. It only saves disk: that it fails is no harm.
void shard::shrink_index() {
  if (!lock_for_writing(config_.lock_deadline)) return;
  const hold held(*this);
  const auto* index = current_index();
  const auto live = index ? live_slots(*index) : 0;
  if (index && buckets_for(live) * 2 < index->buckets()) (void)resize_index(buckets_for(live));
}

// The slots of a segment's records into another index: by what was written here if that is all of
// them, else by what is read. Adds up the bytes of what is live. Returns 0 or an errno.
int shard::move_slots(const index_table& from, const index_table& to, std::uint64_t segment,
                      std::uint64_t& live) const {
  const auto move = [&](std::uint64_t hash, location where, std::uint64_t bytes) {
    const slot* old = from.find_exact(hash, where);
    if (!old) return;
    slot* made = to.find_free(hash, [](const slot*, std::uint64_t w) { return w == 0; });
    if (!made) return;
    made->store(old->load(std::memory_order_relaxed), std::memory_order_relaxed);
    live += bytes;
  };
  const auto* known = written_.find(segment, tail());
  if (!known) {
    const auto limit = segment == tail().segment ? tail().offset : ~std::uint64_t{0};
    return for_each_entry(windows_.place(), segment, limit, [&](const entry_place& entry) {
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

expected<void> shard::resize_index(std::uint64_t buckets) {
  auto* old = current_index();
  if (!old) return fail(errc::io, "the index of " + config_.path.string() + " cannot be mapped");
  const auto generation = old->generation() + 1;
  int error = index_table::create(files_, directory_.get(), generation, config_.store_id, buckets);
  if (error) return fail(system_error(error, "make", path_of(index_name(generation))));
  auto made = index_table::map(files_, directory_.get(), generation, config_.store_id, true, error);
  if (!made) return fail(system_error(error, "map", path_of(index_name(generation))));
  std::uint64_t live = 0;
  for (const auto segment : measure().segments) {
    if (segment < oldest()) continue;
    error = move_slots(*old, *made, segment, live);
    if (error == EMFILE || error == ENFILE || error == ENOMEM)
      return fail(system_error(error, "read", path_of(segment_name(segment))));
  }
  head_.set(head_word::index_stale, 1);
  head_.set(head_word::index_sum, made->sum());
  head_.set(head_word::generation, generation);
  head_.set(head_word::index_stale, 0);
  head_.set(head_word::live_bytes, live);
  const auto former = index_name(old->generation());
  adopt_index(std::move(made));
  files_.remove_at(directory_.get(), former.c_str());
  return {};
}

} // namespace hearth::storage::disk
