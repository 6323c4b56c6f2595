#include "runtime/server/resp/resp_command.hpp"

#include "runtime/server/access/ascii_case.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

namespace hearth::server {
namespace {

constexpr std::size_t longest_name = 24;

using command_index = std::unordered_map<std::string_view, const resp_command*>;

const command_index& all_commands() {
  static const auto index = [] {
    command_index made;
    for (const auto table : command_tables())
      for (const auto& command : table)
        made.emplace(command.name, &command);
    return made;
  }();
  return index;
}

} // namespace

std::span<const std::span<const resp_command>> command_tables() noexcept {
  static const std::array tables{string_commands(), key_commands(),    hash_commands(),
                                 stream_commands(), script_commands(), connection_commands(),
                                 server_commands()};
  return tables;
}

const resp_command* find_command(std::string_view name) noexcept {
  if (name.size() > longest_name) return nullptr;
  std::array<char, longest_name> buffer; // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::transform(name.begin(), name.end(), buffer.begin(), lower_case);
  const auto found = all_commands().find({buffer.data(), name.size()});
  return found == all_commands().end() ? nullptr : found->second;
}

} // namespace hearth::server
