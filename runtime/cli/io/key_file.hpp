// A structural key from a file of details, for the commands that take one.
#pragma once

#include "messages/key_builder.hpp"

#include <string>

namespace hearth::cli {

/// The key of the details in a file of JSON; "-" is stdin. Errors name the file and the place.
expected<structural_key> read_key(const std::string& file);

} // namespace hearth::cli
