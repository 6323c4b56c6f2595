// The budget: how much is taken, and who makes room.
//
// A segment may be begun when what is there, and what evicting one would append, fits into the
// budget. So that it does, whoever begins a segment sees to it that one more than that fits, before
// it is full: outside the lock, on a thread that nobody waits for if there is one. Whoever comes
// first when it did not fit after all makes room, and the others wait for it.
#include "storage/disk/errors.hpp"
#include "storage/disk/shard.hpp"

#include <algorithm>
#include <cerrno>

namespace hearth::storage::disk {

shard::evictor::~evictor() {
  if (!taken_) return;
  of_.files_.unlock_byte(of_.lock_->fd(), evictor_byte);
  of_.evictor_mutex_.unlock();
}

bool shard::evictor::take() noexcept {
  if (taken_) return true;
  if (!of_.evictor_mutex_.try_lock()) return false;
  taken_ = of_.files_.try_lock_byte(of_.lock_->fd(), evictor_byte) == 0;
  if (!taken_) of_.evictor_mutex_.unlock();
  return taken_;
}

shard::disk_use shard::measure() const {
  disk_use use;
  std::vector<std::string> names;
  files_.list(directory_.get(), names);
  std::uint64_t lowest = 0;
  if (!head_.load(head_word::oldest, lowest)) lowest = 0;
  for (const auto& name : names) {
    struct stat about {};
    if (files_.status_at(directory_.get(), name.c_str(), about) < 0) continue;
    auto bytes = static_cast<std::uint64_t>(about.st_blocks) * 512;
    // A value that is being written will take all of its size.
    if (name.ends_with(temporary_suffix))
      bytes = std::max(bytes, static_cast<std::uint64_t>(about.st_size));
    const auto segment = segment_number(name);
    const bool retired = segment != 0 && segment < lowest;
    if (retired && about.st_nlink > 1) bytes = 0; // the blocks are those of its other name
    use.bytes += bytes;
    if (retired) use.retired_bytes += bytes;
    if (segment != 0) use.segments.push_back(segment);
  }
  std::sort(use.segments.begin(), use.segments.end());
  return use;
}

std::uint64_t shard::budget(const disk_use& use) const noexcept {
  if (config_.most_budget_bytes == 0) return config_.budget_bytes;
  const auto free = files_.free_bytes(directory_.get());
  const auto tenth = (free / config_.shards + use.bytes) / 10;
  const auto share = std::max(tenth, config_.least_budget_bytes);
  // On a full disk writes are refused, and nothing is evicted for them.
  const bool is_full = free < 2 * roll_limit();
  return std::min(is_full ? std::max(share, use.bytes + 2 * roll_limit()) : share,
                  config_.most_budget_bytes);
}

bool shard::has_room(const disk_use& use, std::uint64_t bytes) const noexcept {
  return use.bytes + bytes <= budget(use) || is_bare(use);
}

// Whether an empty active segment is all there is: the budget may be smaller than the least that a
// store takes.
bool shard::is_bare(const disk_use& use) const noexcept {
  const auto first = std::lower_bound(use.segments.begin(), use.segments.end(), oldest());
  return use.segments.end() - first <= 1 && tail().offset == first_record_offset;
}

expected<void> shard::make_room(room_request wanted) {
  evictor turn(*this);
  const bool in_time = retry_until(
      config_.lock_deadline, [&] { return turn.take() || has_room(measure(), wanted.needed); });
  if (in_time && !turn.is_taken()) return {};
  // Whoever evicts may have been stopped if it took that long. Two at once only do work twice.
  const auto below = head_.get(head_word::next_segment);
  return evict_while(
      [&](const disk_use& use) {
        return use.bytes - use.retired_bytes + wanted.wanted > budget(use);
      },
      {below, config_.budget_bytes / 2});
}

expected<void> shard::evict_while(const use_test& is_too_much, keep_rule rule) {
  constexpr unsigned max_rounds = 100000;
  bool has_looked = false;
  for (unsigned round = 0; round < max_rounds; ++round) {
    const auto use = measure();
    if (!is_too_much(use)) break;
    if (use.retired_bytes > roll_limit()) {
      if (auto removed = remove_retired(); !removed) return removed;
      if (measure().retired_bytes >= use.retired_bytes)
        return fail(errc::busy, "evicted segments of " + config_.path.string() +
                                    " cannot be removed yet; try again");
    } else if (!std::exchange(has_looked, true)) {
      if (auto removed = remove_dead_large(find_dead_large()); !removed) return removed;
    } else if (is_bare(use) || oldest() >= rule.until) {
      break;
    } else if (auto evicted = evict_oldest(rule); !evicted) {
      return evicted;
    }
  }
  return remove_retired();
}

void shard::catch_up() {
  if (may_not_write() || !eviction_due_.exchange(false)) return;
  // An error is not lost: whoever finds no room meets it again.
  (void)make_room(room_to_roll());
}

void shard::evict_when_due() {
  if (!eviction_due_.load(std::memory_order_relaxed)) return;
  if (config_.work_due)
    config_.work_due();
  else
    catch_up();
}

expected<std::uint64_t> shard::evict_to(std::uint64_t bytes, const step_callback& step) {
  if (may_not_write()) return fail(refusal());
  evictor turn(*this);
  if (!retry_until(config_.lock_deadline, [&] { return turn.take(); }))
    return fail(errc::busy, "another process evicts from " + config_.path.string() + "; try again");
  const auto before = measure().bytes;
  auto last = before;
  const auto is_too_much = [&](const disk_use& use) {
    const auto left = use.bytes - use.retired_bytes;
    if (left < last) step(std::exchange(last, left) - left);
    return left > bytes;
  };
  // Once through what is there, keeping what was hit, and once more through what was kept. What
  // others write meanwhile is not gone after.
  for (const bool keeping : {true, false}) {
    const auto end = head_.get(head_word::next_segment);
    const auto below = keeping && bytes > 0 ? end : 0;
    auto evicted = evict_while(is_too_much, {below, bytes / 2, true, end});
    if (!evicted) return fail(evicted.error());
  }
  shrink_index();
  const auto after = measure().bytes;
  return before > after ? before - after : 0;
}

expected<void> shard::clear() {
  const auto forget_below = [&](std::uint64_t segment) {
    head_.set(head_word::oldest, segment);
    head_.set(head_word::live_bytes, 0);
    head_.set(head_word::retired_after, 0);
    head_.set(head_word::epoch, head_.get(head_word::epoch) + 1);
    remove_retired_now();
  };
  if (auto locked = lock_for_writing(config_.lock_deadline); !locked) return locked;
  hold held(*this);
  if (auto cleared = mark_.remove_before_write(); !cleared) return cleared;
  forget_below(tail().segment); // gives a full disk the room for the next segment
  if (auto begun = begin_segment(); !begun) return begun;
  forget_below(tail().segment);
  held.release();
  shrink_index();
  // Durably: a rebuild would bring back what it finds.
  if (const int synced = files_.sync(directory_.get()); synced < 0)
    return fail(system_error(-synced, "sync", config_.path));
  return {};
}

} // namespace hearth::storage::disk
