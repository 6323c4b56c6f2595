// The version of Hearth.
#pragma once

#include <string_view>

namespace hearth {

/// "0.1.0"
std::string_view version() noexcept;

} // namespace hearth
