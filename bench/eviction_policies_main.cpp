// Measures eviction policies for the memory index: hit ratios of LRU, SIEVE and S3-FIFO with one
// hit bit an entry, over synthetic traces, entries of one size. docs/memory-index.md has the
// figures behind the choice.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <list>
#include <random>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace {

using trace = std::vector<std::uint32_t>;

class zipf {
public:
  zipf(std::size_t n, double skew) {
    double sum = 0;
    for (std::size_t i = 1; i <= n; ++i)
      cumulative_.push_back(sum += 1 / std::pow(i, skew));
    spread_ = std::uniform_real_distribution<>(0, sum);
  }
  std::uint32_t operator()(std::mt19937_64& random) {
    const auto at = std::lower_bound(cumulative_.begin(), cumulative_.end(), spread_(random));
    return static_cast<std::uint32_t>(at - cumulative_.begin());
  }

private:
  std::vector<double> cumulative_;
  std::uniform_real_distribution<> spread_;
};

double lru(const trace& t, std::size_t capacity) {
  std::list<std::uint32_t> order;
  std::unordered_map<std::uint32_t, std::list<std::uint32_t>::iterator> at;
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

double sieve(const trace& t, std::size_t capacity) {
  struct entry {
    std::uint32_t key;
    bool hit;
  };
  std::list<entry> order; // newest first
  auto hand = order.end();
  std::unordered_map<std::uint32_t, std::list<entry>::iterator> at;
  std::size_t hits = 0;
  for (const auto key : t) {
    if (const auto found = at.find(key); found != at.end()) {
      ++hits;
      found->second->hit = true;
      continue;
    }
    if (at.size() == capacity) {
      const auto older = [&](auto i) {
        return i == order.begin() ? std::prev(order.end()) : std::prev(i);
      };
      if (hand == order.end()) hand = std::prev(order.end());
      while (hand->hit) {
        hand->hit = false;
        hand = older(hand);
      }
      const auto victim = hand;
      hand = victim == order.begin() ? order.end() : std::prev(victim);
      at.erase(victim->key);
      order.erase(victim);
    }
    order.push_front({key, false});
    at[key] = order.begin();
  }
  return double(hits) / double(t.size());
}

// `share`: the small queue's share. `most`: the maximum of the hit counter (1: a hit bit).
double s3_fifo(const trace& t, std::size_t capacity, double share, int most) {
  std::deque<std::uint32_t> small, main, ghost;
  std::unordered_map<std::uint32_t, int> count;
  std::unordered_map<std::uint32_t, int> ghosts;
  const auto small_capacity = std::max<std::size_t>(1, std::size_t(double(capacity) * share));
  std::size_t hits = 0;
  const auto remember = [&](std::uint32_t key) {
    ghost.push_back(key);
    ++ghosts[key];
    while (ghost.size() > capacity - small_capacity) {
      if (--ghosts[ghost.front()] == 0) ghosts.erase(ghost.front());
      ghost.pop_front();
    }
  };
  const auto evict = [&] {
    for (;;) {
      if (small.size() >= small_capacity || main.empty()) {
        const auto key = small.front();
        small.pop_front();
        if (count[key] >= 1) {
          count[key] = 0;
          main.push_back(key);
          continue;
        }
        count.erase(key);
        remember(key);
        return;
      }
      const auto key = main.front();
      main.pop_front();
      if (count[key] > 0) {
        --count[key];
        main.push_back(key);
        continue;
      }
      count.erase(key);
      return;
    }
  };
  for (const auto key : t) {
    if (const auto found = count.find(key); found != count.end()) {
      ++hits;
      found->second = std::min(most, found->second + 1);
      continue;
    }
    if (count.size() == capacity) evict();
    (ghosts.contains(key) ? main : small).push_back(key);
    count[key] = 0;
  }
  return double(hits) / double(t.size());
}

trace zipf_trace(std::size_t keys, double skew, std::size_t length) {
  std::mt19937_64 random(1);
  zipf next(keys, skew);
  trace t(length);
  for (auto& k : t)
    k = next(random);
  return t;
}

// Zipf; every `every` requests a scan of `scan` keys that are requested once.
trace scanned_trace(std::size_t keys, double skew, std::size_t length, std::size_t every,
                    std::size_t scan) {
  std::mt19937_64 random(2);
  zipf next(keys, skew);
  trace t;
  std::uint32_t fresh = 1u << 30;
  while (t.size() < length) {
    for (std::size_t i = 0; i < every; ++i)
      t.push_back(next(random));
    for (std::size_t i = 0; i < scan; ++i)
      t.push_back(fresh++);
  }
  return t;
}

// The popular keys change every `every` requests.
trace drifting_trace(std::size_t keys, double skew, std::size_t length, std::size_t every) {
  std::mt19937_64 random(3);
  zipf next(keys, skew);
  trace t;
  for (std::size_t i = 0; i < length; ++i)
    t.push_back(next(random) + static_cast<std::uint32_t>(i / every * keys / 20));
  return t;
}

// A loop over more keys than fit, mixed with Zipf.
trace looping_trace(std::size_t keys, std::size_t loop, std::size_t length) {
  std::mt19937_64 random(4);
  zipf next(keys, 0.9);
  trace t;
  for (std::size_t i = 0; i < length; ++i)
    t.push_back(random() % 2 ? next(random) : (1u << 30) + static_cast<std::uint32_t>(i % loop));
  return t;
}

void show(const char* name, const trace& t, std::size_t capacity) {
  std::printf("%-28s %6zu  lru %.4f  sieve %.4f  s3-fifo(10%%,1) %.4f  (10%%,2bit) %.4f  (25%%,1) "
              "%.4f\n",
              name, capacity, lru(t, capacity), sieve(t, capacity), s3_fifo(t, capacity, .1, 1),
              s3_fifo(t, capacity, .1, 3), s3_fifo(t, capacity, .25, 1));
}

} // namespace

int main() {
  const std::size_t keys = 100'000, length = 1'000'000;
  for (const double skew : {0.7, 0.9, 1.0, 1.2})
    for (const std::size_t capacity : {1'000u, 10'000u, 30'000u}) {
      char name[64];
      std::snprintf(name, sizeof name, "zipf %.1f", skew);
      show(name, zipf_trace(keys, skew, length), capacity);
    }
  for (const std::size_t capacity : {1'000u, 10'000u, 30'000u}) {
    show("zipf 0.9, scans of 5k", scanned_trace(keys, 0.9, length, 20'000, 5'000), capacity);
    show("zipf 0.9, scans of 20k", scanned_trace(keys, 0.9, length, 20'000, 20'000), capacity);
    show("zipf 1.0, drifting", drifting_trace(keys, 1.0, length, 50'000), capacity);
    show("zipf 0.9 and a loop of 15k", looping_trace(keys, 15'000, length), capacity);
  }
}
