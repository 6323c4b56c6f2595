#include "runtime/server/settings/server_settings.hpp"

namespace hearth::server {

std::string_view to_string(protocol one) noexcept {
  switch (one) {
  case protocol::resp: return "resp";
  case protocol::http: return "http";
  case protocol::crsh: return "crsh";
  }
  return "resp";
}

} // namespace hearth::server
