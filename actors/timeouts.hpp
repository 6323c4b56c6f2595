// How long actors wait for each other's answers.
#pragma once

#include <caf/duration.hpp>

#include <chrono>

namespace hearth::actors {

/// Timeout of a request to an actor that only looks up or stores.
inline constexpr auto answer_timeout = std::chrono::minutes{2};
/// Timeout of a request that ends by its own deadline: leases, compiles, trials.
inline constexpr auto until_it_ends = caf::infinite;

} // namespace hearth::actors
