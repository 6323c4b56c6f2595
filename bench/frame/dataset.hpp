// The keys and values that all contenders get.
//
// Immutable after construction; any thread.
#pragma once

#include "messages/artifact.hpp"
#include "messages/key.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::bench {

class dataset {
public:
  /// `entries` keys of 49 random characters and values of `value_bytes` that no codec can compress
  /// (16 different ones, shared). Equal arguments and `seed` give equal data.
  dataset(std::size_t entries, std::size_t value_bytes, std::uint64_t seed = 7);

  std::size_t size() const noexcept { return keys_.size(); }
  std::size_t value_bytes() const noexcept { return value_bytes_; }
  const hearth::key& key(std::size_t entry) const noexcept { return keys_[entry]; }
  /// The key's bytes as all contenders store them.
  const std::string& key_bytes(std::size_t entry) const noexcept { return keys_[entry].encoded(); }
  const artifact& value(std::size_t entry) const noexcept {
    return values_[entry % values_.size()];
  }
  /// All entries in a random order, the order of reading.
  const std::vector<std::uint32_t>& order() const noexcept { return order_; }

  /// Whether `found` matches this entry's value in its size, its first and its last bytes.
  bool is_right(std::size_t entry, std::string_view found) const noexcept;

private:
  std::size_t value_bytes_;
  std::vector<hearth::key> keys_;
  std::vector<artifact> values_;
  std::vector<std::uint32_t> order_;
};

} // namespace hearth::bench
