// Details of a key as JSON, as docs/keys.md has it. Any thread.
#pragma once

#include "messages/key_field.hpp"

#include <filesystem>
#include <string_view>

namespace hearth::fingerprints {

/// The details that a text of JSON says: an object of fields. Files are found relative to `folder`
/// and read. Errors: `malformed`, with line and column when it is no JSON (a name that comes twice
/// in an object, a number outside 64 bits), else with the path of the field; what reading a file
/// says.
expected<key_field> details_from_json(std::string_view text, const std::filesystem::path& folder);

} // namespace hearth::fingerprints
