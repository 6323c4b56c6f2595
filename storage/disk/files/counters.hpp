// Counters that threads increase without contention: a few copies, each on cache lines of its own,
// added up when a total is read.
//
// Owner: a shard. Any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hearth::storage::disk {

enum class counter : unsigned {
  hits,
  misses,
  corrupt,
  unreadable,
  expired,
  inserted,
  existed,
  put,
  erased,
  failed,
  evicted,
  kept_by_hit,
  rebuilds,
  groups,
  count
};

class counters {
public:
  void add(counter which, std::uint64_t amount = 1) noexcept {
    stripes_[stripe()].values[static_cast<unsigned>(which)].fetch_add(amount,
                                                                      std::memory_order_relaxed);
  }
  std::uint64_t total(counter which) const noexcept {
    std::uint64_t sum = 0;
    for (const auto& one : stripes_)
      sum += one.values[static_cast<unsigned>(which)].load(std::memory_order_relaxed);
    return sum;
  }

private:
  static constexpr std::size_t stripe_count = 16;
  struct alignas(128) values_of_stripe {
    std::array<std::atomic<std::uint64_t>, static_cast<unsigned>(counter::count)> values{};
  };
  static std::size_t stripe() noexcept {
    static std::atomic<std::size_t> next{0};
    thread_local const std::size_t mine = next.fetch_add(1, std::memory_order_relaxed);
    return mine % stripe_count;
  }
  std::array<values_of_stripe, stripe_count> stripes_{};
};

} // namespace hearth::storage::disk
