// Standard base64 (RFC 4648, section 4): padded, one form for each text. Pure functions, any
// thread.
#pragma once

#include "messages/error.hpp"

#include <string>
#include <string_view>

namespace hearth::storage {

std::string encode_base64(std::string_view bytes);

/// Errors: `malformed` for a character outside the 64, missing or misplaced padding, and non-zero
/// bits left over.
expected<std::string> decode_base64(std::string_view text);

} // namespace hearth::storage
