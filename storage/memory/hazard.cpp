#include "storage/memory/hazard.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <new>
#include <utility>

namespace hearth::storage {

constinit thread_local hazard_record* this_thread_record = nullptr;

namespace {

constinit thread_local bool this_thread_ends = false;

// Releases the record when the thread ends. Artifacts may still hold its slots, which stay in
// place.
struct departure {
  departure() = default;
  departure(const departure&) = delete;
  departure& operator=(const departure&) = delete;
  ~departure() {
    this_thread_ends = true;
    if (auto* record = std::exchange(this_thread_record, nullptr))
      hazard_registry::of_process().release(*record);
  }
  void arm() const noexcept {}
};

} // namespace

hazard_record* enlist_this_thread() noexcept {
  if (this_thread_record || this_thread_ends) return this_thread_record;
  static thread_local const departure at_end;
  at_end.arm();
  this_thread_record = hazard_registry::of_process().acquire();
  return this_thread_record;
}

hazard_registry& hazard_registry::of_process() noexcept {
  alignas(hazard_registry) static std::byte memory[sizeof(hazard_registry)];
  static auto* const registry = new (memory) hazard_registry; // never destroyed
  return *registry;
}

hazard_record* hazard_registry::acquire() noexcept {
  for (auto* record = head_.load(std::memory_order_acquire); record; record = record->next) {
    bool taken = false;
    if (!record->taken.load(std::memory_order_relaxed) &&
        record->taken.compare_exchange_strong(taken, true, std::memory_order_acquire))
      return record;
  }
  auto* const made = new (std::nothrow) hazard_record;
  if (!made) return nullptr;
  made->next = head_.load(std::memory_order_relaxed);
  // seq_cst: an owner that does not see this record scanned before any slot of it was published.
  while (!head_.compare_exchange_weak(made->next, made, std::memory_order_seq_cst,
                                      std::memory_order_relaxed)) {
  }
  return made;
}

void hazard_registry::release(hazard_record& record) noexcept {
  record.taken.store(false, std::memory_order_release);
}

unsigned hazard_registry::acquire_tally() noexcept {
  const auto number = take_tally();
  if (number == hazard_record::tally_count) return number;
  for (auto* record = head_.load(std::memory_order_acquire); record; record = record->next)
    for (auto& counter : record->tallies[number]) // of its earlier owner
      counter.store(0, std::memory_order_relaxed);
  return number;
}

unsigned hazard_registry::take_tally() noexcept {
  for (unsigned first = 0; first < hazard_record::tally_count; first += 64) {
    auto& word = tallies_taken_[first / 64];
    auto taken = word.load(std::memory_order_relaxed);
    while (~taken != 0) {
      const auto bit = std::countr_one(taken);
      if (word.compare_exchange_weak(taken, taken | std::uint64_t{1} << bit,
                                     std::memory_order_acquire, std::memory_order_relaxed))
        return first + static_cast<unsigned>(bit);
    }
  }
  return hazard_record::tally_count;
}

void hazard_registry::release_tally(unsigned number) noexcept {
  if (number < hazard_record::tally_count)
    tallies_taken_[number / 64].fetch_and(~(std::uint64_t{1} << number % 64),
                                          std::memory_order_release);
}

hazard_registry::tally_sums hazard_registry::sum_tally(unsigned number) const noexcept {
  tally_sums sums{};
  if (number >= hazard_record::tally_count) return sums;
  for (auto* record = head_.load(std::memory_order_acquire); record; record = record->next)
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i] += record->tallies[number][i].load(std::memory_order_relaxed);
  return sums;
}

void hazard_scan::take() {
  held_.clear();
  hazard_registry::of_process().each_held([this](const void* p) { held_.push_back(p); });
  std::sort(held_.begin(), held_.end(), std::less<>{});
}

bool hazard_scan::holds(const void* pointer) const noexcept {
  return std::binary_search(held_.begin(), held_.end(), pointer, std::less<>{});
}

std::size_t hazard_registry::size() const noexcept {
  std::size_t count = 0;
  for (auto* record = head_.load(std::memory_order_acquire); record; record = record->next)
    ++count;
  return count;
}

} // namespace hearth::storage
