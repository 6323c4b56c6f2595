// How tunings are handed to another process: as a message. Pure functions.
#pragma once

#include "runtime/autotune/tunings.hpp"

#include <string>

namespace hearth {

/// Canonical msgpack: a map of `store`, `remote` and `tunings`, each a map of what it is told. The
/// log is not handed on.
std::string encode_handover(const tuning_handover& handover);

} // namespace hearth
