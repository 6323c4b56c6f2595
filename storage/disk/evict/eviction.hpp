// Keeps a shard within its budget: decides when to evict, and how much.
//
// A writer that begins a segment requests room for the next one in advance; the store's background
// thread, if there is one, makes it outside the lock. A writer that finds no room all the same
// makes room itself, and the others wait for it.
//
// Owner: a shard. Any thread, without the lock.
#pragma once

#include "messages/error.hpp"
#include "storage/disk/append/index_growth.hpp"
#include "storage/disk/evict/segment_eviction.hpp"
#include "storage/disk/evict/segment_removal.hpp"
#include "storage/disk/files/step_callback.hpp"

#include <cstdint>
#include <functional>
#include <mutex>

namespace hearth::storage::disk {

class eviction {
public:
  eviction(shard_files& files, const disk_budget& space, index_growth& growth,
           active_segment& active, write_access& access, segment_removal& removal,
           segment_eviction& segments) noexcept
      : files_(files)
      , space_(space)
      , growth_(growth)
      , active_(active)
      , access_(access)
      , removal_(removal)
      , segments_(segments) {}

  /// Evicts until the requested room is in the budget, or waits until another thread has made it.
  expected<void> make_room(room_request wanted);
  /// Evicts down to the budget, if a writer requested it.
  void catch_up();
  /// Has the background thread call `catch_up`, if there is one; else calls it.
  void catch_up_soon();
  /// Evicts until at most `bytes` of disk are taken. Returns the bytes freed.
  expected<std::uint64_t> evict_to(std::uint64_t bytes, const step_callback& step);
  /// Drops every entry.
  expected<void> clear();

private:
  using use_test = std::function<bool(const disk_use&)>;
  expected<void> evict_while(const use_test& is_too_much, keep_rule rule);
  void forget_below(std::uint64_t segment);

  shard_files& files_;
  const disk_budget& space_;
  index_growth& growth_;
  active_segment& active_;
  write_access& access_;
  segment_removal& removal_;
  segment_eviction& segments_;
  std::mutex right_mutex_; // used by eviction_right
};

} // namespace hearth::storage::disk
