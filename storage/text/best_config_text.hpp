// Inductor's form of a tuning as text: the content of a `.best_config` file, and the value of an
// entry of its remote cache. Pure functions.
#pragma once

#include "messages/autotune/record.hpp"
#include "messages/visibility.hpp"

#include <string>
#include <string_view>

namespace HEARTH_PUBLIC hearth {

/// One object of JSON with Inductor's fields, in ASCII. Errors: `invalid_argument` when an argument
/// has the name of another field; `unsupported` for an argument that JSON cannot represent.
expected<std::string> best_config_text(const autotune_record& record);
/// Errors: `malformed`, with line and column when it is no JSON, else with the field.
expected<autotune_record> parse_best_config(std::string_view text);

} // namespace hearth
