// Judges the state of the remote server from its replies. Pure functions.
#pragma once

#include "actors/ports/remote_client.hpp"

#include <cstdint>
#include <string_view>

namespace hearth::actors {

/// The purpose of a command.
enum class command_purpose : std::uint8_t {
  probe,
  lookup,
  lease,
  write,
  log,    ///< of purges
  notice, ///< waits for purges; tells nothing of the server's health
};

/// What a failed reply affects.
enum class failure_severity : std::uint8_t {
  none,
  entry,           ///< this command only; another one may succeed
  node,            ///< what a node of a cluster serves; a write may succeed later
  writes,          ///< writes: the server refuses them now
  service,         ///< the server fails if this is repeated: the breaker counts it
  service_at_once, ///< the server fails: the breaker opens at once
};

failure_severity severity_of(const remote_reply& reply, command_purpose what);

/// The error text that the server replied, or an empty text.
std::string_view server_text(const remote_reply& reply) noexcept;

} // namespace hearth::actors
