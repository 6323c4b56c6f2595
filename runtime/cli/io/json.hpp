// JSON for the output of commands. Pure functions.
#pragma once

#include "messages/value.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace hearth::cli {

/// A value for people to read; it never fails. Bytes become `{"base64": "..."}`, a number that is
/// not finite becomes null. `json_of` (storage/text) writes JSON that is read back later.
nlohmann::json display_json(const value& v);

/// RFC 4648, padded.
std::string base64(std::string_view bytes);

/// One line of JSON; invalid UTF-8 is replaced.
std::string dump(const nlohmann::json& object);

} // namespace hearth::cli
