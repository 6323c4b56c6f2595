#include "storage/memory/memory_view.hpp"

namespace hearth::storage {

namespace {
constexpr int max_promotions = 64; // in a mailbox at once: each keeps its artifact in memory
} // namespace

memory_view::memory_view(memory_index_options options, std::shared_ptr<const store> disk)
    : index_(options)
    , disk_(std::move(disk))
    , watched_(disk_ ? disk_->shards() : 0) {
  for (unsigned i = 0; i < watched_.size(); ++i) {
    watched_[i].now = &disk_->place_of_epoch(i);
    watched_[i].seen.store(disk_->epoch(i), std::memory_order_relaxed);
  }
}

bool memory_view::begin_promotion() noexcept {
  if (promotions_.fetch_add(1, std::memory_order_relaxed) < max_promotions) return true;
  end_promotion();
  return false;
}

std::uint64_t memory_view::seen(unsigned disk_shard) const noexcept {
  return watched_[disk_shard].seen.load(std::memory_order_relaxed);
}

void memory_view::advance(unsigned disk_shard, epoch_change change) noexcept {
  watched_[disk_shard].seen.compare_exchange_strong(change.before, change.after,
                                                    std::memory_order_acq_rel);
}

void memory_view::refresh() {
  if (is_current()) return;
  // Reads the epochs before it drops the entries: the next call sees a later move.
  std::vector<std::uint64_t> now(watched_.size());
  for (unsigned i = 0; i < now.size(); ++i)
    now[i] = disk_->epoch(i);
  index_.clear();
  for (unsigned i = 0; i < now.size(); ++i)
    watched_[i].seen.store(now[i], std::memory_order_release);
}

} // namespace hearth::storage
