#include "storage/memory/bucket_table.hpp"

#include <algorithm>
#include <new>

#include <sys/mman.h>

namespace hearth::storage {

namespace {

constexpr std::size_t page_bytes = 4096;

} // namespace

std::unique_ptr<bucket_table> bucket_table::make(std::size_t buckets) noexcept {
  static_assert(sizeof(void*) == 8, "node addresses have 48 bits");
  const auto count = std::bit_ceil(std::max(buckets, page_bytes / sizeof(bucket)));
  // Zero pages are empty buckets: unused buckets cost no memory, and making a table is fast.
  void* memory = ::mmap(nullptr, count * sizeof(bucket), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const made = new (std::nothrow) bucket_table(static_cast<bucket*>(memory), count - 1);
  if (!made) ::munmap(memory, count * sizeof(bucket));
  return std::unique_ptr<bucket_table>(made);
}

std::size_t bucket_table::buckets_for(std::size_t entries) noexcept {
  return (entries * 2 + 6) / 7; // 7 words a bucket, half of them used
}

bucket_table::~bucket_table() { ::munmap(buckets_, size() * sizeof(bucket)); }

node* bucket_table::find(std::uint64_t hash, std::uint32_t cache, std::string_view key,
                         hazard_slot& slot) const noexcept {
  const auto tag = tag_of(hash);
  for (std::size_t probe = 0; probe < longest_probe; ++probe) {
    const auto& b = at(hash + probe);
    const auto tags = b.tags.load(std::memory_order_acquire);
    for (auto matches = match(tags, tag); matches; matches &= matches - 1) {
      const auto& word = b.words[first_of(matches)];
      auto seen = word.load(std::memory_order_acquire);
      while (seen && !other_hash(seen, hash)) {
        auto* const candidate = node_of(seen);
        if (!protect(slot, candidate, word, seen)) {
          seen = word.load(std::memory_order_acquire);
          continue;
        }
        if (candidate->is(cache, key)) return candidate;
        break;
      }
    }
    if (tags < one_overflow) break;
  }
  return nullptr;
}

void bucket_table::prefetch_node(std::uint64_t hash, std::size_t key_size) const noexcept {
  const auto& b = home(hash);
  const auto matches = match(b.tags.load(std::memory_order_acquire), tag_of(hash));
  if (!matches) return;
  const auto* const n = node_of(b.words[first_of(matches)].load(std::memory_order_relaxed));
  __builtin_prefetch(n);
  __builtin_prefetch(n->key_data() + key_size - 1);
}

bool bucket_table::insert(std::uint64_t hash, node* fresh) noexcept {
  for (std::size_t distance = 0; distance < longest_probe; ++distance) {
    auto& b = at(hash + distance);
    for (unsigned i = 0; i < bucket::word_count; ++i) {
      if (b.words[i].load(std::memory_order_relaxed)) continue;
      add_overflow(hash, distance, one_overflow);
      b.words[i].store(word_of(hash, fresh), std::memory_order_release);
      const auto tags = b.tags.load(std::memory_order_relaxed);
      b.tags.store(tags | tag_of(hash) << 8 * i, std::memory_order_release);
      ++used_;
      return true;
    }
  }
  return false;
}

bool bucket_table::replace(std::uint64_t hash, const node* old, node* fresh) noexcept {
  const auto p = locate(hash, old);
  if (!p.found) return false;
  at(hash + p.distance).words[p.word].store(word_of(hash, fresh), std::memory_order_seq_cst);
  return true;
}

bool bucket_table::erase(std::uint64_t hash, const node* gone) noexcept {
  const auto p = locate(hash, gone);
  if (!p.found) return false;
  clear(hash, p.distance, p.word);
  return true;
}

node* bucket_table::neighbour(std::uint64_t hash) const noexcept {
  for (const auto& word : home(hash).words)
    if (const auto value = word.load(std::memory_order_relaxed)) return node_of(value);
  return nullptr;
}

void bucket_table::discard() noexcept {
  ::madvise(buckets_, size() * sizeof(bucket), MADV_DONTNEED);
  discarded_ = true;
}

bucket_table::place bucket_table::locate(std::uint64_t hash, const node* n) const noexcept {
  const auto wanted = word_of(hash, n);
  for (std::size_t distance = 0; distance < longest_probe; ++distance) {
    const auto& b = at(hash + distance);
    for (unsigned i = 0; i < bucket::word_count; ++i)
      if (b.words[i].load(std::memory_order_relaxed) == wanted) return {distance, i, true};
    if (b.tags.load(std::memory_order_relaxed) < one_overflow) break;
  }
  return {};
}

void bucket_table::add_overflow(std::uint64_t hash, std::size_t distance,
                                std::uint64_t change) noexcept {
  for (std::size_t passed = 0; passed < distance; ++passed) {
    auto& tags = at(hash + passed).tags;
    tags.store(tags.load(std::memory_order_relaxed) + change, std::memory_order_release);
  }
}

void bucket_table::clear(std::uint64_t hash, std::size_t distance, unsigned word) noexcept {
  auto& b = at(hash + distance);
  b.words[word].store(0, std::memory_order_seq_cst);
  const auto tags = b.tags.load(std::memory_order_relaxed);
  b.tags.store(tags & ~(std::uint64_t{0xff} << 8 * word), std::memory_order_release);
  add_overflow(hash, distance, ~std::uint64_t{0} << overflow_shift); // minus one
  --used_;
}

} // namespace hearth::storage
