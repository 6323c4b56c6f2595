// wrk against an HTTP server. For a row's thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace hearth::bench {

struct http_load {
  std::string url; ///< "http://HOST:PORT"
  std::size_t connections;
  std::size_t seconds;
  std::size_t names; ///< gets of /f0, /f1, ... below this number, at random
};

/// Seconds that one request takes. `directory`: for wrk's script. Throws `std::runtime_error` when
/// wrk fails or a reply is not 200.
double wrk(const http_load& load, const std::filesystem::path& directory);

} // namespace hearth::bench
