// The small parts of RESP: numbers, values of one line, and requests as people type them. Pure
// functions, any thread.
#pragma once

#include "storage/resp/resp_value.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::storage {

/// Parses a decimal number of 64 bits, with or without a sign and no other characters.
std::optional<std::int64_t> parse_integer(std::string_view digits);

/// The same in the one form that Redis takes from clients: no `+`, no zero in front, no `-0`.
std::optional<std::int64_t> parse_canonical_integer(std::string_view digits);

/// Parses a value of one line: `+`, `-`, `:`, `_`, `,`, `#` or `(` and its text.
std::optional<resp_value> parse_scalar(std::string_view line);

/// The words of a request in one line (`SET "a key" 1`), quoted as redis-cli reads them: "..." with
/// \n \r \t \b \a \\ \" \xHH, '...' with \'. Nothing when quotes are not balanced.
std::optional<std::vector<std::string>> split_words(std::string_view line);

} // namespace hearth::storage
