// Sizes in text: `512`, `64KiB`, `1.5GiB`. Pure functions, any thread.
#pragma once

#include "messages/error.hpp"

#include <cstdint>
#include <string_view>

namespace hearth {

/// "512", "64KiB", "1.5 GiB", "2MB", as bytes. Errors: `malformed`, `overflow`.
expected<std::uint64_t> parse_size(std::string_view text);

} // namespace hearth
