// The version of Hearth.
#pragma once

#include "messages/visibility.hpp"

#include <string_view>

namespace HEARTH_PUBLIC hearth {

/// "0.1.0"
std::string_view version() noexcept;

} // namespace hearth
