// Details of a key as JSON, as docs/keys.md describes them. Any thread.
#pragma once

#include "messages/key_field.hpp"

#include <filesystem>
#include <string_view>

namespace hearth::fingerprints {

/// Parses details from JSON text, an object of fields. Reads the files that it names, relative to
/// `folder`. Errors: `malformed`, with line and column when it is not JSON (a repeated name in an
/// object or a number outside 64 bits too), else with the path of the field; the errors of reading
/// a file.
expected<key_field> details_from_json(std::string_view text, const std::filesystem::path& folder);

} // namespace hearth::fingerprints
