// Values as JSON. Pure functions.
#pragma once

#include "messages/value.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace hearth::cli {

/// Bytes become `{"base64": "..."}`.
nlohmann::json to_json(const value& v);

/// RFC 4648, padded.
std::string base64(std::string_view bytes);

/// One line of JSON; bytes that are no UTF-8 are replaced.
std::string dump(const nlohmann::json& object);

} // namespace hearth::cli
