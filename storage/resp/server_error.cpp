#include "storage/resp/server_error.hpp"

#include <array>
#include <cctype>
#include <utility>

namespace hearth::storage {

server_error server_error_of(std::string_view text) noexcept {
  using enum server_error;
  if (text.empty()) return none;
  constexpr std::array<std::pair<std::string_view, server_error>, 16> codes{{
      {"OOM", no_writes},
      {"READONLY", no_writes},
      {"MISCONF", no_writes},
      {"NOREPLICAS", no_writes},
      {"LOADING", no_service},
      {"BUSY", no_service},
      {"MASTERDOWN", no_service},
      {"TRYAGAIN", no_service},
      {"CLUSTERDOWN", no_service},
      {"MOVED", no_service},
      {"NOAUTH", no_rights},
      {"WRONGPASS", no_rights},
      {"NOPERM", forbidden},
      {"WRONGTYPE", wrong_type},
      {"NOSCRIPT", no_command},
      {"DENIED", no_rights},
  }};
  const auto word = text.substr(0, text.find_first_of(" \r\n"));
  for (const auto& [code, meaning] : codes)
    if (word == code) return meaning;
  if (text.starts_with("ERR unknown command")) return no_command;
  // Of a script, before Redis 7.
  if (text.starts_with("ERR Error running script") && text.find("-OOM ") != text.npos)
    return no_writes;
  if (text.starts_with("ERR max number of clients")) return no_service;
  if (text.starts_with("ERR AUTH") || text.starts_with("ERR invalid password")) return no_rights;
  const bool is_code = !word.empty() && std::isupper(static_cast<unsigned char>(word.front())) != 0;
  return is_code ? other : none;
}

} // namespace hearth::storage
