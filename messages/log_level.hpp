// The severity of a line of the log. Plain value, any thread.
#pragma once

#include "messages/visibility.hpp"

#include <cstdint>
#include <string_view>

namespace HEARTH_PUBLIC hearth {

enum class log_level : std::uint8_t { debug, info, warning, error };
std::string_view to_string(log_level level) noexcept;

} // namespace hearth
