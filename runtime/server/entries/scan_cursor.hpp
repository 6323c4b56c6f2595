// The number by which SCAN goes on. It is a place in the store's index, so the server keeps nothing
// between two pages. Pure functions, any thread.
#pragma once

#include "storage/disk/store.hpp"

#include <cstdint>
#include <optional>

namespace hearth::server {

/// The number of a place: never 0, which is a scan's beginning and its end, and below 2^63, so that
/// every client can read it.
std::uint64_t cursor_of(const storage::scan_place& place) noexcept;
/// The place of a number; the beginning for 0, nothing for one that no page has had.
std::optional<storage::scan_place> place_of(std::uint64_t cursor) noexcept;

} // namespace hearth::server
