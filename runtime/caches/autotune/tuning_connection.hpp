// How tunings are handed to another process: as a message. Pure functions.
#pragma once

#include "runtime/caches/autotune/tunings.hpp"

#include <string>

namespace hearth {

/// Canonical msgpack: a map of `store`, `remote` and `tunings`, each a map of what it is told. The
/// log is not handed on.
std::string encode_connection(const tuning_connection& connection);

} // namespace hearth
