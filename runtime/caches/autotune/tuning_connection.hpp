// Encodes tunings as a message for another process. Pure functions.
#pragma once

#include "runtime/caches/autotune/tunings.hpp"

#include <string>

namespace hearth {

/// Canonical msgpack: a map of `store`, `remote` and `tunings`, each a map of its settings. The log
/// callback is not included.
std::string encode_connection(const tuning_connection& connection);

} // namespace hearth
