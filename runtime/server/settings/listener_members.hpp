// Reads `[[listen]]`, and checks each listener against the others and the rest of the settings.
// Plain values and pure functions.
#pragma once

#include "runtime/server/access/toml_members.hpp"
#include "runtime/server/settings/server_settings.hpp"

#include <string>
#include <vector>

namespace hearth::server {

inline constexpr std::size_t max_listeners = 64;

/// A listener as the file has it.
struct listener_entry {
  listener_settings settings;
  bool says_anonymous = false;
  toml_place place; ///< "listen[0]"
  std::size_t line = 0;
};

/// The listeners of the file; none where it has none. Errors: `malformed`.
expected<std::vector<listener_entry>> read_listeners(const std::string& file,
                                                     const toml::table& root);

/// Fills in what clients without credentials may do where the file is silent, and makes paths of
/// the folder's. Errors: `invalid_argument` for what contradicts itself, with file and line.
expected<void> complete_listeners(std::vector<listener_entry>& listeners, bool has_users,
                                  const std::filesystem::path& folder);

/// The path, from `folder` if it is relative; empty stays empty.
std::filesystem::path path_from(const std::filesystem::path& folder,
                                const std::filesystem::path& path);

} // namespace hearth::server
