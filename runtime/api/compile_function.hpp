// What a host gives to `get_or_compile`.
#pragma once

#include "messages/artifact.hpp"
#include "messages/error.hpp"

#include <functional>

namespace hearth {

/// Makes what is missing. Called at most once a key at a time, in all processes that share the
/// store; it may use the cache. What it throws becomes `compile_failed`. The time that it took is
/// kept as the member `time_taken_ns` of the artifact's metadata, unless that has one.
using compile_function = std::function<expected<artifact>()>;

} // namespace hearth
