#include "storage/disk/evict/eviction.hpp"

#include "storage/disk/evict/eviction_right.hpp"
#include "storage/disk/os/errors.hpp"

#include <utility>

namespace hearth::storage::disk {

expected<void> eviction::make_room(room_request wanted) {
  eviction_right right(files_, right_mutex_);
  const bool in_time = retry_until(files_.config.lock_deadline, [&] {
    return right.take() || space_.has_room(space_.measure(), wanted.needed);
  });
  if (in_time && !right.is_taken()) return {};
  // A holder of the right that takes that long may be a stopped process. Two threads that evict at
  // once do the same work twice, which is harmless.
  keep_rule rule;
  rule.keep_below = files_.head.get(head_word::next_segment);
  rule.keep_unhit_max_live_bytes = files_.config.budget_bytes / 2;
  return evict_while(
      [&](const disk_use& use) {
        return use.bytes - use.retired_bytes + wanted.wanted > space_.limit(use);
      },
      rule);
}

expected<void> eviction::evict_while(const use_test& is_too_much, keep_rule rule) {
  constexpr unsigned max_rounds = 100000;
  bool has_looked = false;
  for (unsigned round = 0; round < max_rounds; ++round) {
    const auto use = space_.measure();
    if (!is_too_much(use)) break;
    if (use.retired_bytes > files_.roll_limit()) {
      if (auto removed = removal_.remove_retired(); !removed) return removed;
      if (space_.measure().retired_bytes >= use.retired_bytes)
        return fail(errc::busy, "evicted segments of " + files_.config.path.string() +
                                    " cannot be removed yet; try again");
    } else if (!std::exchange(has_looked, true)) {
      if (auto removed = removal_.remove_dead_large(removal_.find_dead_large()); !removed)
        return removed;
    } else if (space_.is_bare(use) || files_.oldest() >= rule.stop_at) {
      break;
    } else if (auto evicted = segments_.evict_oldest(rule); !evicted) {
      return evicted;
    }
  }
  return removal_.remove_retired();
}

void eviction::catch_up() {
  if (!files_.is_writable() || !files_.eviction_due.exchange(false)) return;
  // An error is not lost: the next writer that finds no room gets it again.
  (void)make_room(space_.room_to_roll());
}

void eviction::catch_up_soon() {
  if (!files_.eviction_due.load(std::memory_order_relaxed)) return;
  if (files_.config.work_due)
    files_.config.work_due();
  else
    catch_up();
}

expected<std::uint64_t> eviction::evict_to(std::uint64_t bytes, const step_callback& step) {
  if (!files_.is_writable()) return fail(files_.refusal());
  eviction_right right(files_, right_mutex_);
  if (!retry_until(files_.config.lock_deadline, [&] { return right.take(); }))
    return fail(errc::busy,
                "another process evicts from " + files_.config.path.string() + "; try again");
  const auto before = space_.measure().bytes;
  auto last = before;
  const auto is_too_much = [&](const disk_use& use) {
    const auto left = use.bytes - use.retired_bytes;
    if (left < last) step(std::exchange(last, left) - left);
    return left > bytes;
  };
  // The first pass goes through all segments and keeps entries that were hit; the second pass
  // evicts those too. Segments that other threads begin meanwhile stay.
  for (const bool keeping : {true, false}) {
    keep_rule rule;
    rule.stop_at = files_.head.get(head_word::next_segment);
    rule.keep_below = keeping && bytes > 0 ? rule.stop_at : 0;
    rule.keep_unhit_max_live_bytes = bytes / 2;
    // Then what is live fits, and only what is replaced, erased or expired has to go.
    rule.keeps_whole_segments = files_.head.get(head_word::live_bytes) <= bytes / 2;
    rule.drop_when_full = true;
    if (auto evicted = evict_while(is_too_much, rule); !evicted) return fail(evicted.error());
  }
  if (const auto held = access_.lock(); held) growth_.shrink();
  const auto after = space_.measure().bytes;
  return before > after ? before - after : 0;
}

// The caller holds the lock.
void eviction::forget_below(std::uint64_t segment) {
  files_.head.set(head_word::oldest, segment);
  files_.head.set(head_word::live_bytes, 0);
  files_.head.set(head_word::retired_after, 0);
  files_.move_epoch();
  removal_.remove_retired_now();
}

expected<void> eviction::clear() {
  {
    const auto held = access_.lock();
    if (!held) return fail(held.error());
    if (auto cleared = files_.mark.remove_before_write(); !cleared) return cleared;
    forget_below(files_.tail().segment); // on a full disk, makes room for the next segment
    if (auto begun = active_.begin_next(); !begun) return begun;
    forget_below(files_.tail().segment);
    growth_.shrink();
  }
  // Syncs the removals: a rebuild would bring back the records of any segment that it finds.
  if (const int synced = files_.system.sync(files_.directory.get()); synced < 0)
    return fail(system_error(-synced, "sync", files_.config.path));
  return {};
}

} // namespace hearth::storage::disk
