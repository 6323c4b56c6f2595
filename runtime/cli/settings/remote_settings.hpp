// What can be said of the remote tier on the command line, in the environment and in a
// configuration file: one table for all three.
#pragma once

#include "messages/error.hpp"
#include "runtime/api/config.hpp"

#include <span>
#include <string_view>

namespace hearth::cli {

struct remote_setting {
  std::string_view key;    ///< in the file; its variable is HEARTH_ and this in capitals
  std::string_view option; ///< on the command line
  std::string_view type;   ///< of its value, for the help
  std::string_view help;
  /// Takes a text over. Errors: `invalid_argument`, `malformed`, `overflow`; never with a secret.
  expected<void> (*set)(std::string_view text, remote_config& into);
};

std::span<const remote_setting> remote_settings() noexcept;

/// Makes the passwords of URLs among a program's arguments unreadable in place, so that a list of
/// processes does not show them. To be called when the arguments have been copied.
void hide_passwords(int count, char** arguments) noexcept;

} // namespace hearth::cli
