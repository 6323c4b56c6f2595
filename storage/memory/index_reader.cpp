#include "storage/memory/index_reader.hpp"

namespace hearth::storage {

artifact index_reader::search(std::uint32_t cache, std::string_view bytes, std::uint64_t hash,
                              const lookup_counter& hits) noexcept {
  if (auto* const record = enlist_this_thread()) return search(*record, cache, bytes, hash, hits);
  auto* const borrowed = registry_.acquire();
  if (!borrowed) {
    shared_[static_cast<std::size_t>(tier::none)].fetch_add(1, std::memory_order_relaxed);
    return {};
  }
  auto result = search(*borrowed, cache, bytes, hash, hits);
  registry_.release(*borrowed);
  return result;
}

artifact index_reader::search(hazard_record& record, std::uint32_t cache, std::string_view bytes,
                              std::uint64_t hash, const lookup_counter& hits) noexcept {
  auto* const slot = record.free_slot();
  auto& used = slot ? *slot : record.transient;
  auto* found = find(cache, bytes, hash, used);
  if (found && found->has_expired()) found = nullptr;
  if (!found) {
    count_here(record, tier::none);
    if (used.load(std::memory_order_relaxed)) used.store(nullptr, std::memory_order_release);
    return {};
  }
  count_hit(record, hits);
  if (!is_marked(*found)) mark(*found);
  if (slot) return artifact::protect(found->body, slot);
  const auto held = artifact::protect(found->body, &used);
  return artifact(held); // the copy takes a reference count
}

void index_reader::count_here(hazard_record& record, tier from) noexcept {
  if (const auto number = tally_.number(); number != lookup_counter::no_tally)
    record.count(number, from);
  else
    shared_[static_cast<std::size_t>(from)].fetch_add(1, std::memory_order_relaxed);
}

node* index_reader::find(std::uint32_t cache, std::string_view bytes, std::uint64_t hash,
                         hazard_slot& slot) noexcept {
  for (const auto* t = &table(); t; t = t->next())
    if (auto* const found = t->find(hash, cache, bytes, slot)) return found;
  return nullptr;
}

// Writes the hit bits only when they are clear: this keeps the line of a hot key in every reader's
// cache.
void index_reader::mark(node& n) noexcept {
  const bool expires = (n.hit.load(std::memory_order_relaxed) & node::expires) != 0;
  const auto lately = expires ? node::hit_lately_expiring : node::hit_lately;
  const auto before =
      n.hit.fetch_or(static_cast<std::uint8_t>(lately | node::hit_ever), std::memory_order_relaxed);
  if (before & node::hit_ever) return;
  n.next_first_hit = first_hits_.load(std::memory_order_relaxed);
  while (!first_hits_.compare_exchange_weak(n.next_first_hit, &n, std::memory_order_release,
                                            std::memory_order_relaxed)) {
  }
}

index_reader::hit_counts index_reader::counts() const noexcept {
  const auto sums = tally_.sums();
  const auto all = [&](tier from) {
    const auto at = static_cast<std::size_t>(from);
    return sums[at] + shared_[at].load(std::memory_order_relaxed);
  };
  return {all(tier::memory), all(tier::none)};
}

} // namespace hearth::storage
