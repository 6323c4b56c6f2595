// `hearth serve`: a cache server for clients of Redis, of HTTP caches and of ccache's helper
// socket.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/cli/io/output.hpp"
#include "runtime/cli/settings/settings.hpp"

#include <string>
#include <vector>

namespace hearth::cli {

struct serve_arguments {
  std::string file;                ///< the settings file; empty: `listen` says where
  std::vector<std::string> listen; ///< "resp=127.0.0.1:6379", without a file
  std::string role;                ///< of clients, without a file; empty: writers, on this host
  bool hold_misses = false;        ///< without a file
  bool check = false;              ///< checks the settings, and serves nothing
  bool hash_password = false;      ///< prints the hash of a password from standard input
  bool new_token = false;          ///< prints a new token and its hash
  given_options given;             ///< of all commands; they overrule the settings file
};

/// Serves until SIGTERM or SIGINT; SIGHUP reads users, certificates, limits and times again. Prints
/// a line for each address that it listens at.
status serve(const config& settings, const serve_arguments& arguments);

} // namespace hearth::cli
