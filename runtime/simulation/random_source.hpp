// The random numbers of a simulation: the same from the same seed, on every machine and with every
// library. One thread.
#pragma once

#include <cstdint>

namespace hearth::simulation {

class random_source {
public:
  explicit random_source(std::uint64_t seed) noexcept
      : state_(seed) {}

  /// 64 random bits (SplitMix64).
  std::uint64_t next() noexcept {
    auto z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// A number below `count`, which is not 0. The bias of a small count does not matter here.
  std::uint64_t below(std::uint64_t count) noexcept { return next() % count; }
  /// A number from `least` to `max`, both included.
  std::uint64_t between(std::uint64_t least, std::uint64_t max) noexcept {
    return least + below(max - least + 1);
  }
  /// True with probability 1 / `count`.
  bool one_in(std::uint64_t count) noexcept { return below(count) == 0; }

private:
  std::uint64_t state_;
};

} // namespace hearth::simulation
