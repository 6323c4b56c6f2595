// Error texts of the Redis protocol. Any thread.
#pragma once

#include "messages/error.hpp"

#include <string>
#include <string_view>

namespace hearth::server {

inline constexpr std::string_view syntax_error = "ERR syntax error";
inline constexpr std::string_view wrong_type =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr std::string_view too_long_value =
    "ERR string exceeds maximum allowed size (proto-max-bulk-len)";
inline constexpr std::string_view not_an_integer = "ERR value is not an integer or out of range";

/// Redis's error for a wrong number of words behind a subcommand: "client|id".
std::string wrong_subcommand_arity(std::string_view name);

/// The error of a command that the cache could not carry out, with the code that clients of Redis
/// know for it: OOM, READONLY, BUSY, else ERR.
std::string failure_text(const error& why);

} // namespace hearth::server
