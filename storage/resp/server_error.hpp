// What a server of the Redis protocol means by the errors that it replies. Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace hearth::storage {

enum class server_error : std::uint8_t {
  none,       ///< the text is no error of a server
  no_writes,  ///< it takes no writes now: out of memory, read only, its disk is full, too few
              ///< replicas
  no_service, ///< it answers nothing now: loading, busy with a script, its master is down
  no_rights,  ///< wrong or missing credentials
  forbidden,  ///< these credentials may not send this command
  wrong_type, ///< what stands under the name is none of ours
  no_command, ///< it does not know the command
  other,
};

/// By the first word of an error's text, as "OOM command not allowed when used memory > ...".
server_error server_error_of(std::string_view text) noexcept;

} // namespace hearth::storage
