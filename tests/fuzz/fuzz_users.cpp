// The server's users file and settings file: a text that is taken has only what may be in it, one
// that is refused says where.
#include "runtime/server/access/users_file.hpp"
#include "runtime/server/settings/server_settings.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <set>
#include <string>

using namespace hearth;
using namespace hearth::fuzz;

namespace {

bool is_name(std::string_view text) {
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !text.empty() && text.size() <= 58 && text.find_first_not_of(allowed) == text.npos;
}

void check_users(const server::user_list& users) {
  std::set<std::string> names;
  for (const auto& one : users) {
    require(is_name(one.who.user) && names.insert(one.who.user).second, "a user's name");
    require(one.who.name_space.empty() || is_name(one.who.name_space), "a namespace's name");
    require(one.password_hash.empty() || one.password_hash.starts_with("scrypt$"), "a hash");
    require(one.token_hash.empty() || one.token_hash.starts_with("sha256$"), "a token's hash");
  }
}

void check_settings(const server::server_settings& settings) {
  require(!settings.listeners.empty(), "no listener");
  for (const auto& one : settings.listeners)
    require(one.is_unix() || server::parse_address(one.address).has_value(), "an address");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto text = text_of(data, size);
  const bool is_users = take_byte(text) % 2 == 0;
  if (is_users) {
    const auto users = server::parse_users(text, "/f");
    if (users) check_users(*users);
    require(users || users.error().text().find("/f") != std::string::npos,
            "an error without its file");
  } else if (const auto settings = server::parse_server_settings(text, "/f")) {
    check_settings(*settings);
  } else {
    require(!settings.error().text().empty(), "an error without a text");
  }
  return 0;
}
