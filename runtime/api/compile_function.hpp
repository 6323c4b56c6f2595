// The callback that a host passes to `get_or_compile`.
#pragma once

#include "messages/artifact.hpp"
#include "messages/error.hpp"

#include <functional>

namespace hearth {

/// Makes the missing artifact. At most one call per key runs at a time, in all processes that share
/// the store; it may use the cache. An exception becomes `compile_failed`. Its duration is stored
/// as the member `time_taken_ns` of the artifact's metadata, unless that member exists.
using compile_function = std::function<expected<artifact>()>;

} // namespace hearth
