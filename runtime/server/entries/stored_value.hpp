// The form in which a client's value is stored: its bytes, with an expiry and members in the
// metadata. Pure functions.
#pragma once

#include "messages/artifact.hpp"
#include "messages/expiry.hpp"

#include <chrono>
#include <cstdint>
#include <string_view>

namespace hearth::server {

/// When an entry ends, in ms of Unix time; 0: never.
using expiry_ms = std::int64_t;

/// A value with an expiry in its metadata (messages/expiry.hpp). `members` are kept with it and
/// returned by HTTP.
artifact make_value(std::string_view bytes, expiry_ms expires = 0, value::map members = {});
/// The value with another expiry; its other members stay.
artifact with_expiry(const artifact& stored, expiry_ms expires);
/// The members of a value that took so long to make, as `time_taken` reads them; none for zero.
value::map members_of(std::chrono::nanoseconds time_taken);

} // namespace hearth::server
