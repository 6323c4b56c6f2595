// The settings of the remote tier: one table for the command line, the environment and the
// configuration file.
#pragma once

#include "messages/error.hpp"
#include "runtime/api/config.hpp"

#include <span>
#include <string_view>

namespace hearth::cli {

struct remote_setting {
  std::string_view key;    ///< key in the file; the variable is HEARTH_ and the key in capitals
  std::string_view option; ///< option of the command line
  std::string_view type;   ///< type of its value, for the help
  std::string_view help;
  /// Parses a text into `into`. Errors: `invalid_argument`, `malformed`, `overflow`; their texts
  /// hold no secret.
  expected<void> (*set)(std::string_view text, remote_config& into);
};

std::span<const remote_setting> remote_settings() noexcept;

/// Overwrites the passwords of URLs in a program's arguments, so that a list of processes does not
/// show them. The caller copies the arguments first.
void hide_passwords(int count, char** arguments) noexcept;

} // namespace hearth::cli
