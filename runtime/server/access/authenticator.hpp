// Checks credentials against the users of the server. Any thread.
//
// A password is hashed slowly, by scrypt, on a thread of its own: the connections' threads never
// hash one. The result is remembered (by a keyed hash that lives as long as the process), so that a
// client that sends its password with each request costs one slow hash.
#pragma once

#include "messages/error.hpp"
#include "runtime/server/access/identity.hpp"
#include "runtime/server/access/users_file.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace hearth::server {

class authenticator {
public:
  using answer_callback = std::function<void(expected<identity_ptr>)>;

  /// The time for the limit on failures.
  using clock_function = std::function<std::chrono::steady_clock::time_point()>;

  /// The checks that wait for their hash at once; more are refused.
  static constexpr std::size_t max_waiting = 256;

  explicit authenticator(user_list users, clock_function clock = std::chrono::steady_clock::now);
  authenticator(const authenticator&) = delete;
  authenticator& operator=(const authenticator&) = delete;
  /// Waits for the hash that is being made, and answers the others with `closed`. Not within an
  /// answer.
  ~authenticator();

  /// Replaces the users, and forgets which passwords were right. Connections keep the identity that
  /// they have.
  void replace_users(user_list users);

  /// The user of this name, whose credentials were checked elsewhere (by TLS); null if there is
  /// none.
  identity_ptr user_named(std::string_view user) const;

  /// Calls `answer` once: at once if the password is known to be right, else on a thread of this
  /// object. `from` is the peer's address: after ten failures from it within a minute, checks are
  /// refused until the minute is over. Errors: `permission` (which says neither whether the user
  /// nor the password was wrong), `overloaded` (too many failures, too many checks that wait, or no
  /// thread to be had).
  void check_password(std::string_view user, std::string_view password, std::string_view from,
                      answer_callback answer);

  /// The user of a token, for `Authorization: Bearer`. A token is either `NAME:PASSWORD` or a
  /// user's token, which is long and random and therefore hashed fast. As above.
  void check_token(std::string_view token, std::string_view from, answer_callback answer);

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace hearth::server
