// Histogram of n bytes in b bins of equal width (b at most 256): counts[x * b / 256] += 1.
//
// The trick: a table of counters does not vectorise, comparing does. With few bins, counting for
// each bin how many bytes lie below its end is much faster, though it reads the data b times; with
// many bins the table wins. Several tables used in turn keep an increment from waiting for the
// store of the same counter just before, on CPUs that do not forward it fast enough.
//
// ALGORITHM  0: tables; 1: comparisons
// TABLES     tables used in turn (comparisons: 1)
// Guard 0: b = 256, where the bin is the byte itself. Guard 1: any number of bins.

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace {

constexpr int64_t byte_values = 256;
constexpr bool is_identity = HEARTH_GUARD == 0;

int64_t bin_of(uint8_t value, int64_t bins) {
  return is_identity ? value : value * bins / byte_values;
}

/// How many of the bytes are less than `bound` (at most 255). Counters of a byte keep the vectors
/// full; they are emptied before they can overflow.
int32_t count_below(const uint8_t* x, int64_t n, uint8_t bound) {
  constexpr int64_t lanes = 64, rounds = 255;
  int32_t total = 0;
  int64_t i = 0;
  while (i + lanes <= n) {
    uint8_t counters[lanes] = {};
    const int64_t end = std::min(n / lanes * lanes, i + rounds * lanes);
    for (; i < end; i += lanes) {
      for (int64_t lane = 0; lane < lanes; ++lane)
        counters[lane] = static_cast<uint8_t>(counters[lane] + (x[i + lane] < bound));
    }
    for (const uint8_t counter : counters)
      total += counter;
  }
  for (; i < n; ++i)
    total += x[i] < bound;
  return total;
}

[[maybe_unused]] void count_by_comparisons(const uint8_t* x, int64_t n, int32_t* counts,
                                           int64_t bins) {
  int32_t before = 0;
  for (int64_t bin = 0; bin < bins; ++bin) {
    const int64_t end = ((bin + 1) * byte_values + bins - 1) / bins;
    const bool is_last = end == byte_values;
    const auto below =
        is_last ? static_cast<int32_t>(n) : count_below(x, n, static_cast<uint8_t>(end));
    counts[bin] = below - before;
    before = below;
  }
}

[[maybe_unused]] void count_in_tables(const uint8_t* x, int64_t n, int32_t* counts, int64_t bins) {
  constexpr int64_t word_size = sizeof(uint64_t);
  int32_t tables[TABLES][byte_values] = {};
  int64_t i = 0;
  for (; i + word_size <= n; i += word_size) {
    uint64_t word;
    std::memcpy(&word, x + i, sizeof word);
    for (int byte = 0; byte < word_size; ++byte, word >>= 8) {
      ++tables[byte % TABLES][bin_of(static_cast<uint8_t>(word), bins)];
    }
  }
  for (; i < n; ++i)
    ++tables[0][bin_of(x[i], bins)];
  std::fill_n(counts, bins, 0);
  for (const auto& table : tables) {
    for (int64_t bin = 0; bin < bins; ++bin)
      counts[bin] += table[bin];
  }
}

} // namespace

extern "C" void histogram(void* const* buffers, const int64_t* sizes) {
  const int64_t n = sizes[0], bins = is_identity ? byte_values : sizes[1];
  const auto* x = static_cast<const uint8_t*>(buffers[0]);
  auto* counts = static_cast<int32_t*>(buffers[1]);
  if constexpr (ALGORITHM == 0) {
    count_in_tables(x, n, counts, bins);
  } else {
    count_by_comparisons(x, n, counts, bins);
  }
}

extern "C" void histogram_reference(void* const* buffers, const int64_t* sizes) {
  const int64_t n = sizes[0], bins = sizes[1];
  const auto* x = static_cast<const uint8_t*>(buffers[0]);
  auto* counts = static_cast<int32_t*>(buffers[1]);
  std::fill_n(counts, bins, 0);
  for (int64_t i = 0; i < n; ++i)
    ++counts[x[i] * bins / byte_values];
}
