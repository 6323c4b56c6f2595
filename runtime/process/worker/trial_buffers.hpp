// The memory that a kernel is tried on: each buffer is between inaccessible pages, with marked
// bytes in the gaps, so that a write out of bounds is detected. For one thread.
#pragma once

#include "messages/error.hpp"
#include "messages/process.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace hearth::worker {

inline constexpr std::size_t max_trial_bytes = std::size_t{4} << 30; ///< sum over all buffers
inline constexpr std::size_t max_trial_buffers = 256;
inline constexpr std::size_t max_trial_rank = 16;

/// Bytes of one element.
std::size_t size_of(element_type type);
/// Elements of a shape: the product, 1 for a scalar. Errors: `too_large`, `invalid_argument`.
expected<std::size_t> count_elements(const std::vector<std::int64_t>& shape);

/// Zeroed memory, aligned to 64 bytes, that ends less than 64 bytes before a guard.
class guarded_memory {
public:
  static expected<guarded_memory> make(std::size_t size);
  guarded_memory(guarded_memory&& other) noexcept;
  guarded_memory& operator=(guarded_memory&&) = delete;
  ~guarded_memory();

  std::span<std::byte> bytes() const { return bytes_; }
  /// "past the end of" or "in front of", where marked bytes were overwritten; else empty.
  std::string overrun() const;

private:
  guarded_memory() = default;
  std::span<std::byte> front() const;
  std::span<std::byte> back() const;

  std::span<std::byte> mapping_; // guards included
  std::span<std::byte> usable_;  // between the guards
  std::span<std::byte> bytes_;
};

/// Fills the memory of an input. Element i of buffer b is made of word i + 1 of SplitMix64 that
/// starts from SplitMix64's mix(seed ^ mix(b + 1)): integers are its highest 8 bits; f32 is its
/// highest 24 bits / 2^23 - 1, f64 its highest 53 bits / 2^52 - 1. The same on every machine.
void fill_input(std::span<std::byte> memory, element_type type, std::uint64_t seed,
                std::size_t buffer);

} // namespace hearth::worker
