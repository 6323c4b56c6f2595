// Converts values to JSON and back, without loss: a value that JSON cannot represent is an error.
// Pure functions.
#pragma once

#include "messages/value.hpp"

#include <nlohmann/json_fwd.hpp>

namespace hearth {

/// Errors: `unsupported` for raw bytes, text that is not UTF-8, and numbers that are not finite.
expected<nlohmann::json> json_of(const value& v);

/// Errors: `overflow` for an integer outside signed 64 bits; `too_large` when nested deeper than
/// 64.
expected<value> value_of(const nlohmann::json& json);

} // namespace hearth
