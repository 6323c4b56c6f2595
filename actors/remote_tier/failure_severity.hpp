// What a reply of the remote server says about the server. Pure functions.
#pragma once

#include "actors/ports/remote_client.hpp"

#include <cstdint>
#include <string_view>

namespace hearth::actors {

/// What a command was sent for.
enum class command_purpose : std::uint8_t { probe, lookup, lease, write };

/// What a reply is a sign of.
enum class failure_severity : std::uint8_t {
  none,
  entry,           ///< this command alone: another may fare better
  writes,          ///< the server takes no writes now
  service,         ///< the server is ill, if that goes on
  service_at_once, ///< the breaker opens at once
};

failure_severity severity_of(const remote_reply& reply, command_purpose what);

/// The error that the server itself replied, or nothing.
std::string_view server_text(const remote_reply& reply) noexcept;

} // namespace hearth::actors
