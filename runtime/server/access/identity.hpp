// Who a client acts for: a user with a role and a namespace. Plain value, any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::server {

/// Each role may do all that the ones before it may.
enum class user_role : std::uint8_t {
  reader, ///< looks up
  writer, ///< stores, replaces and drops single entries of its namespace
  admin,  ///< lists keys, drops everything, reads the configuration
};
std::string_view to_string(user_role role) noexcept;

/// The answer to a write by a reader.
enum class refused_writes : std::uint8_t {
  error,  ///< an error: NOPERM, 403
  ignore, ///< a success that stores nothing, for clients that give up at an error
};

struct identity {
  std::string user;          ///< for logs and counters; "anonymous" without credentials
  bool is_anonymous = false; ///< has shown no credentials
  user_role role = user_role::reader;
  /// The namespace that it writes. Empty: the trusted one. A user of another namespace reads its
  /// own, then the trusted one.
  std::string name_space;
  /// Whether a miss makes the client the holder of the key's lease; empty: as its listener says.
  std::optional<bool> hold_misses{};
  refused_writes refused = refused_writes::error;

  bool may_write() const noexcept { return role >= user_role::writer; }
  bool may_manage() const noexcept { return role >= user_role::admin; }
};

using identity_ptr = std::shared_ptr<const identity>;

} // namespace hearth::server
