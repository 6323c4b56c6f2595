// The tiers of a cache. Plain value.
#pragma once

#include "messages/visibility.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace HEARTH_PUBLIC hearth {

/// The tier in which an entry was found; `none` is a miss.
enum class tier : std::uint8_t { none, memory, disk, remote };
inline constexpr std::size_t tier_count = 4;
std::string_view to_string(tier t) noexcept;

} // namespace hearth
