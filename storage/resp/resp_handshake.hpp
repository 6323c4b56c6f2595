// The handshake of a connection to a server of the Redis protocol: RESP3 with HELLO, or RESP2 with
// AUTH when the server is older; then the database. It returns the next command and takes the
// reply; it has no socket. Owned by one thread. No text that it returns contains the password.
#pragma once

#include "storage/resp/resp_value.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::storage {

/// How a `hearth serve` names itself in its reply to HELLO: a module of this name, whose version is
/// that of the commands that a remote tier of Hearth's processes needs.
inline constexpr const char* hearth_module = "hearth";
inline constexpr int hearth_module_version = 1;

/// The client's login and name.
struct resp_login {
  std::string user; ///< empty: the server's default user
  std::string password;
  std::uint32_t database = 0;
  std::string client_name;   ///< shown by CLIENT LIST; without blanks
  bool wants_master = false; ///< a server that says that it is a replica is refused
  bool wants_hearth = false; ///< a server that is no `hearth serve` of this version is refused
};

class resp_handshake {
public:
  explicit resp_handshake(resp_login login);

  /// The next command to send. Empty: the handshake is complete.
  std::vector<std::string> command() const;

  enum class outcome : std::uint8_t {
    go_on,        ///< send the next command, if there is one
    refused,      ///< the server replied an error: `problem` is its text
    other_server, ///< the server is none of those that are wanted: `problem` says so
    garbage,      ///< the reply does not fit the command
  };
  /// Takes the reply to `command()`.
  outcome take(const resp_value& reply);

  const std::string& problem() const noexcept { return problem_; }

private:
  enum class step : std::uint8_t { hello, auth, select, name, done };
  bool has_login() const { return !login_.user.empty() || !login_.password.empty(); }
  step after(step at) const;
  outcome refuse(const resp_value& reply);

  resp_login login_;
  step step_ = step::hello;
  std::string problem_;
};

} // namespace hearth::storage
