// The eviction policy: hit ratios of the index beside a plain LRU that may use the whole budget for
// entries, without overhead.
#include "messages/hash.hpp"
#include "storage/memory/memory_index.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hit_ratio_test {

using namespace hearth;
using namespace hearth::storage;

namespace {

using trace = std::vector<std::uint64_t>;

constexpr std::uint64_t budget = 2u << 20;
constexpr std::size_t payload_size = 1000;

class zipf {
public:
  zipf(std::size_t keys, double skew) {
    double sum = 0;
    for (std::size_t i = 1; i <= keys; ++i)
      cumulative_.push_back(sum += 1 / std::pow(double(i), skew));
  }
  std::uint64_t operator()(std::mt19937_64& random) const {
    const double at = double(random() >> 11) * 0x1p-53 * cumulative_.back();
    return std::uint64_t(std::lower_bound(cumulative_.begin(), cumulative_.end(), at) -
                         cumulative_.begin());
  }

private:
  std::vector<double> cumulative_;
};

trace zipf_trace(std::size_t length, double skew) {
  std::mt19937_64 random(1);
  const zipf next(20'000, skew);
  trace t(length);
  for (auto& key : t)
    key = next(random);
  return t;
}

// After every 5000 requests comes a scan of as many keys that occur once.
trace scanned_trace(std::size_t length) {
  std::mt19937_64 random(2);
  const zipf next(20'000, 0.9);
  trace t;
  std::uint64_t fresh = std::uint64_t{1} << 40;
  while (t.size() < length) {
    for (int i = 0; i < 5000; ++i)
      t.push_back(next(random));
    for (int i = 0; i < 5000; ++i)
      t.push_back(fresh++);
  }
  return t;
}

double ratio_of_lru(const trace& t) {
  const std::size_t capacity = budget / payload_size;
  std::list<std::uint64_t> order;
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> at;
  std::size_t hits = 0;
  for (const auto key : t) {
    if (const auto found = at.find(key); found != at.end()) {
      ++hits;
      order.splice(order.begin(), order, found->second);
      continue;
    }
    if (at.size() == capacity) {
      at.erase(order.back());
      order.pop_back();
    }
    order.push_front(key);
    at[key] = order.begin();
  }
  return double(hits) / double(t.size());
}

double ratio_of_index(const trace& t) {
  memory_index index({.budget_bytes = budget});
  for (const auto& number : t) {
    const std::string_view bytes{reinterpret_cast<const char*>(&number), sizeof number};
    const memory_key key{1, bytes, fast_hash(bytes, 1)};
    if (index.get(key)) continue;
    auto* const body = artifact_body::allocate(0, payload_size);
    index.insert(key, artifact::adopt(body));
  }
  const auto stats = index.stats();
  CHECK(stats.hits + stats.misses == t.size());
  CHECK(stats.bytes_used <= budget);
  return double(stats.hits) / double(t.size());
}

void compare(const std::string& name, const trace& t) {
  const auto index = ratio_of_index(t), lru = ratio_of_lru(t);
  CHECK(index >= lru);
  MESSAGE(name, ": index ", index, ", lru ", lru);
}

} // namespace

TEST_CASE("memory: hit ratios on Zipf traces are no worse than those of LRU") {
  compare("zipf 0.8", zipf_trace(60'000, 0.8));
  compare("zipf 1.0", zipf_trace(60'000, 1.0));
  compare("zipf 1.2", zipf_trace(60'000, 1.2));
}

TEST_CASE("memory: scans do not evict entries that are requested again") {
  const auto t = scanned_trace(100'000);
  compare("zipf 0.9 with scans", t);
  CHECK(ratio_of_index(t) >= 1.15 * ratio_of_lru(t));
}

} // namespace hit_ratio_test
