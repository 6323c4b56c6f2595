// How a connection to a server of the Redis protocol begins: RESP3 with HELLO, or RESP2 with AUTH
// when the server is older; then the database. Says what to send next and takes what is replied;
// knows no socket. Owned by one thread. No text that it gives out has the password in it.
#pragma once

#include "storage/resp/resp_value.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::storage {

/// Who we are to the server.
struct resp_login {
  std::string user; ///< empty: the server's default user
  std::string password;
  std::uint32_t database = 0;
  std::string client_name; ///< shown by CLIENT LIST; without blanks
};

class resp_handshake {
public:
  explicit resp_handshake(resp_login login);

  /// What to send, now or after the last reply was taken. Empty: we are in.
  std::vector<std::string> command() const;

  enum class outcome : std::uint8_t {
    go_on,   ///< send the next command, if there is one
    refused, ///< the server said an error: `problem` is its text
    garbage, ///< a reply that cannot be one to what was sent
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
