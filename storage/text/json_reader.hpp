// Reads JSON more strictly than the library does: a duplicate name in an object, and an integer
// that does not fit into 64 bits, are errors. Any thread.
#pragma once

#include "messages/error.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace hearth {

/// Maximum nesting.
inline constexpr int max_json_depth = 200;

/// Errors: `malformed`, with line and column, for text that is not JSON; `too_large` when nested
/// too deep.
expected<nlohmann::json> read_json(std::string_view text);

} // namespace hearth
