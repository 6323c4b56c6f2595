#include "storage/disk/index/index_generations.hpp"

#include <cerrno>

namespace hearth::storage::disk {
namespace {

constexpr unsigned max_attempts = 8;

} // namespace

index_generations::~index_generations() {
  auto* index = private_ ? nullptr : newest_.load();
  while (index) {
    auto* older = index->older;
    delete index;
    index = older;
  }
}

index_table* index_generations::map_current() noexcept {
  for (unsigned attempt = 0; attempt < max_attempts; ++attempt) {
    std::uint64_t generation = 0;
    if (!head_.load(head_word::generation, generation)) return nullptr;
    int error = 0;
    auto made = index_table::map(system_, directory_, generation, store_id_, !read_only_, error);
    if (made) return adopt(std::move(made));
    if (error != ENOENT) return nullptr; // ENOENT: the index has grown meanwhile
  }
  return nullptr;
}

int index_generations::why_unmapped() const {
  int error = 0;
  index_table::map(system_, directory_, head_.get(head_word::generation), store_id_, true, error);
  return error;
}

std::unique_ptr<index_table> index_generations::make(std::uint64_t generation,
                                                     std::uint64_t buckets, int& error) {
  error = index_table::create(system_, directory_, generation, store_id_, buckets);
  if (error) return nullptr;
  return index_table::map(system_, directory_, generation, store_id_, true, error);
}

index_table* index_generations::adopt(std::unique_ptr<index_table> made) noexcept {
  auto* present = newest_.load(std::memory_order_acquire);
  for (;;) {
    if (present && present->generation() >= made->generation()) return present;
    made->older = present;
    if (newest_.compare_exchange_weak(present, made.get(), std::memory_order_acq_rel))
      return made.release();
  }
}

void index_generations::use_private(std::unique_ptr<index_table> made) noexcept {
  private_ = std::move(made);
  newest_.store(private_.get(), std::memory_order_release);
}

} // namespace hearth::storage::disk
