#include "bench/frame/dataset.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <numeric>
#include <random>

namespace hearth::bench {
namespace {

constexpr std::size_t different_values = 16;

std::string random_bytes(std::size_t bytes, std::mt19937_64& random) {
  std::string text(bytes, '\0');
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    const auto word = random();
    std::memcpy(text.data() + at, &word, std::min(sizeof word, bytes - at));
  }
  return text;
}

} // namespace

dataset::dataset(std::size_t entries, std::size_t value_bytes, std::uint64_t seed)
    : value_bytes_(value_bytes)
    , order_(entries) {
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < different_values; ++i)
    values_.push_back(artifact::make(random_bytes(value_bytes, random)));
  keys_.reserve(entries);
  for (std::size_t i = 0; i < entries; ++i) {
    const auto first = random(), second = random(), third = random();
    keys_.emplace_back(fmt::format("f{:016x}{:016x}{:016x}", first, second, third));
  }
  std::iota(order_.begin(), order_.end(), 0u);
  std::shuffle(order_.begin(), order_.end(), random);
}

bool dataset::is_right(std::size_t entry, std::string_view found) const noexcept {
  const auto wanted = value(entry).payload();
  constexpr std::size_t end = 8;
  if (found.size() != wanted.size()) return false;
  if (found.size() < end) return found == wanted;
  return std::memcmp(found.data(), wanted.data(), end) == 0 &&
         std::memcmp(found.data() + found.size() - end, wanted.data() + wanted.size() - end, end) ==
             0;
}

} // namespace hearth::bench
