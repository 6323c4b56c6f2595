// Reads JSON more strictly than the library by itself: a name that comes twice in an object, and
// an integer that does not fit into 64 bits, are errors. Any thread.
#pragma once

#include "messages/error.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace hearth {

/// Deepest nesting that is read.
inline constexpr int max_json_depth = 200;

/// Errors: `malformed`, with line and column where it is no JSON; `too_large`, nested too deep.
expected<nlohmann::json> read_json(std::string_view text);

} // namespace hearth
