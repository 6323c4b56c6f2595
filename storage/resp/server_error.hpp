// Classifies the errors that a server of the Redis protocol replies. Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace hearth::storage {

enum class server_error : std::uint8_t {
  none,       ///< the text is not a server's error
  no_writes,  ///< it refuses writes now: out of memory, read only, its disk is full, too few
              ///< replicas
  no_service, ///< it refuses all commands now: loading, busy with a script, its master is down
  no_rights,  ///< wrong or missing credentials
  forbidden,  ///< these credentials may not send this command
  wrong_type, ///< the value under the name is not one of Hearth's
  no_command, ///< it does not know the command
  other,
};

/// Classifies an error by the first word of its text, such as "OOM command not allowed when used
/// memory > ...".
server_error server_error_of(std::string_view text) noexcept;

} // namespace hearth::storage
