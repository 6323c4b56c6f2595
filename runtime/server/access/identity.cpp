#include "runtime/server/access/identity.hpp"

namespace hearth::server {

std::string_view to_string(user_role role) noexcept {
  switch (role) {
  case user_role::reader: return "reader";
  case user_role::writer: return "writer";
  case user_role::admin: return "admin";
  }
  return "reader";
}

} // namespace hearth::server
