#include "storage/memory/eviction_queues.hpp"

#include "storage/memory/allocator_charge.hpp"

#include <algorithm>
#include <bit>

namespace hearth::storage {

void ghost_list::add(std::uint64_t hash) {
  if (cells_.empty()) return;
  if (++clock_ == 0) clock_ = 1;
  const auto first = cells_.begin() + static_cast<std::ptrdiff_t>(set_of(hash));
  const auto age = [this](const cell& c) { return c.time ? clock_ - c.time : ~std::uint32_t{0}; };
  *std::max_element(first, first + ways, [&](const cell& a, const cell& b) {
    return age(a) < age(b);
  }) = {mark_of(hash), clock_};
}

bool ghost_list::contains(std::uint64_t hash) const noexcept {
  if (cells_.empty()) return false;
  const auto first = cells_.begin() + static_cast<std::ptrdiff_t>(set_of(hash));
  return std::any_of(first, first + ways, [&](const cell& c) {
    return c.time && c.mark == mark_of(hash) && clock_ - c.time < capacity_;
  });
}

void ghost_list::set_capacity(std::size_t entries) {
  capacity_ = entries;
  const auto needed = std::bit_ceil(std::max(entries, 4 * ways));
  if (needed > cells_.size()) cells_ = std::vector<cell>(needed);
}

void ghost_list::clear() noexcept { std::fill(cells_.begin(), cells_.end(), cell{}); }

void eviction_queues::add(node& fresh, std::uint64_t hash) {
  push(ghosts_.contains(hash) ? main_ : small_, {&fresh, hash});
}

void eviction_queues::replace(node& old, node& fresh) noexcept {
  at(queue_of(old), old.position).held = &fresh;
  fresh.position = old.position;
  old.position = node::retired;
}

void eviction_queues::remove(node& gone) {
  auto& q = queue_of(gone);
  at(q, gone.position).held = nullptr;
  gone.position = node::retired;
  --q.live;
  if (q.entries.size() > 2 * q.live + 64) compact(q);
}

eviction_queues::entry eviction_queues::take_victim() {
  // Each pass clears a hit bit or moves an entry: readers set bits meanwhile, so the loop is
  // bounded.
  for (auto passes = 2 * size() + 1; passes > 0 && size() > 0; --passes) {
    const bool from_small = small_.live * small_share >= size() || main_.live == 0;
    const auto e = pop(from_small ? small_ : main_);
    if (take_hit(*e.held) && passes > 1) {
      push(main_, e);
      continue;
    }
    e.held->position = node::retired;
    if (from_small) {
      ghosts_.set_capacity(size());
      ghosts_.add(e.hash);
    }
    return e;
  }
  return {nullptr, 0};
}

std::uint64_t eviction_queues::hash_of(const node& n) const noexcept {
  const auto& q = n.position & in_main ? main_ : small_;
  return q.entries[(n.position - q.first) & ~in_main].hash;
}

std::size_t eviction_queues::bytes() const noexcept {
  constexpr std::size_t block_bytes = 512; // of libstdc++'s deque
  std::size_t total = ghosts_.bytes();
  for (const auto* q : {&small_, &main_}) {
    const auto blocks = q->entries.size() / (block_bytes / sizeof(entry)) + 1;
    total += blocks * (glibc_charge(block_bytes) + 2 * sizeof(void*));
  }
  return total;
}

std::uint32_t eviction_queues::position_of(const queue& q, std::size_t index) const noexcept {
  const auto number = q.first + static_cast<std::uint32_t>(index);
  return (number & ~in_main) | (&q == &main_ ? in_main : 0);
}

void eviction_queues::push(queue& q, entry e) {
  q.entries.push_back(e);
  e.held->position = position_of(q, q.entries.size() - 1);
  ++q.live;
}

eviction_queues::entry eviction_queues::pop(queue& q) noexcept {
  for (;;) {
    const auto e = q.entries.front();
    q.entries.pop_front();
    ++q.first;
    if (!e.held) continue;
    --q.live;
    return e;
  }
}

void eviction_queues::compact(queue& q) noexcept {
  std::size_t kept = 0;
  for (const auto& e : q.entries) {
    if (!e.held) continue;
    e.held->position = position_of(q, kept);
    q.entries[kept++] = e;
  }
  q.entries.erase(q.entries.begin() + static_cast<std::ptrdiff_t>(kept), q.entries.end());
}

bool eviction_queues::take_hit(node& n) noexcept {
  constexpr std::uint8_t lately = node::hit_lately | node::hit_lately_expiring;
  if (!(n.hit.load(std::memory_order_relaxed) & lately)) return false;
  n.hit.fetch_and(static_cast<std::uint8_t>(~lately), std::memory_order_relaxed);
  return !n.has_expired();
}

} // namespace hearth::storage
