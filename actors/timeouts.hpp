// How long actors wait for each other's answers.
#pragma once

#include <caf/duration.hpp>

#include <chrono>

namespace hearth::actors {

/// For the answer of an actor that only looks up or stores.
inline constexpr auto answer_timeout = std::chrono::minutes{2};
/// For what ends by a deadline of its own: leases, compiles, trials.
inline constexpr auto until_it_ends = caf::infinite;

} // namespace hearth::actors
