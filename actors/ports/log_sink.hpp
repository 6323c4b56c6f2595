// The log for events that no answer reports. The runtime supplies the host's log.
#pragma once

#include "messages/log_level.hpp"

#include <functional>
#include <string_view>

namespace hearth::actors {

/// Called from any thread; must not block for long.
using log_sink = std::function<void(log_level, std::string_view)>;

} // namespace hearth::actors
