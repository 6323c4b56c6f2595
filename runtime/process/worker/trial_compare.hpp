// Compares the outputs of a kernel with those of its reference. Pure functions, any thread.
#pragma once

#include "messages/process.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace hearth::worker {

/// The first difference of `got` from `expected`, both of the size of `buffer`: "output 2 [17] is
/// 1.5, expected 1.25 (tolerance 0.0001)" with `index` 2. Empty when there is none: each |got -
/// expected| <= tolerance * max(1, |expected|), a NaN matches a NaN, an infinity only itself.
/// Integers have to be equal when the tolerance is below 1.
std::string difference(std::span<const std::byte> got, std::span<const std::byte> expected,
                       const trial_buffer& buffer, std::size_t index, double tolerance);

} // namespace hearth::worker
