// The figures of stats() beside those of the allocator and the kernel.
#include "storage/memory/bucket_table.hpp"
#include "storage/memory/memory_index.hpp"
#include "storage/memory/node_slab.hpp"
#include "tests/storage/memory/memory_keys.hpp"
#include "tests/support/allocated_bytes.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <random>
#include <vector>

namespace accounting_test {

using namespace hearth;
using namespace hearth::storage;
using namespace hearth::test;

namespace {

// A sanitizer has its own allocator: tests that compare with the allocator are skipped then.
const bool sanitized = allocator_name() == "sanitizer";

// Tables are mapped, not allocated: `mapped` is their part of the bytes in stats().
void compare(const memory_index& index, std::uint64_t before, std::uint64_t mapped) {
  const auto told = double(index.stats().bytes_used);
  const auto taken = double(allocated_bytes() - before + mapped);
  CHECK(told >= 0.95 * taken);
  CHECK(told <= 1.05 * taken);
  MESSAGE(allocator_name(), ": told ", told, " taken ", taken, " ratio ", told / taken);
}

std::uint64_t table_bytes(std::size_t entries) {
  return bucket_table::make(bucket_table::buckets_for(entries))->bytes();
}

void fill_and_compare(std::size_t size, std::size_t count) {
  const auto before = allocated_bytes();
  memory_index index({.budget_bytes = 1u << 30, .expected_entries = count});
  for (std::uint64_t i = 0; i < count; ++i)
    index.insert(key_of(key_text(i)), versioned(i, 1, size));
  CHECK(index.stats().entries == count);
  compare(index, before, table_bytes(count));
}

} // namespace

TEST_CASE("memory: bytes used equal the allocator's figure" * doctest::skip(sanitized)) {
  fill_and_compare(16, 20'000);
  fill_and_compare(100, 20'000);
  fill_and_compare(1u << 10, 10'000);
  fill_and_compare(16u << 10, 2'000);
  fill_and_compare(300u << 10, 100);
}

TEST_CASE("memory: bytes used equal the allocator's figure when entries come and go" *
          doctest::skip(sanitized)) {
  const auto before = allocated_bytes();
  memory_index index({.budget_bytes = 8u << 20, .expected_entries = 4000});
  std::mt19937_64 random(1);
  for (std::uint64_t i = 0; i < 40'000; ++i) {
    const auto text = key_text(i).substr(random() % 40);
    index.insert(key_of(text), versioned(i, 1, 16 + random() % 4096));
    if (i % 3 == 0) index.erase(key_of(key_text(random() % (i + 1))));
  }
  compare(index, before, table_bytes(4000));
  CHECK(index.stats().bytes_used <= 8u << 20);
}

TEST_CASE("memory: a slab gives back pages that it no longer needs") {
  node_slab slab(4096);
  const auto body = artifact::make("x");
  std::vector<node*> nodes;
  std::mt19937_64 random(1);
  for (int i = 0; i < 5000; ++i) {
    const std::string key(random() % 700, char('a' + i % 26));
    auto* const made = slab.make(std::uint32_t(i), key, body.body());
    REQUIRE(made);
    nodes.push_back(made);
    if (i % 3 == 0) {
      std::swap(nodes[random() % nodes.size()], nodes.back());
      CHECK(nodes.back()->key().find_first_not_of(char('a' + nodes.back()->cache % 26)) ==
            std::string_view::npos);
      slab.free(nodes.back());
      nodes.pop_back();
    }
  }
  CHECK(slab.slack_bytes() < slab.allocated_bytes() / 4);
  for (auto* n : nodes) {
    CHECK(n->key().find_first_not_of(char('a' + n->cache % 26)) == std::string_view::npos);
    slab.free(n);
  }
  CHECK(slab.allocated_bytes() == 0);
  CHECK(slab.slack_bytes() == 0);
}

} // namespace accounting_test
