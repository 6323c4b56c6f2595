// A private nginx on a free port of this machine, which serves the files of a folder. Owned by one
// row; it ends with the row.
#pragma once

#include "bench/peers/peer_program.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace hearth::bench {

class nginx_process {
public:
  /// `directory`: for its configuration and temporary files; `files`: what it serves. Throws
  /// `std::runtime_error` when it cannot be started, for example when it is not installed.
  nginx_process(const std::filesystem::path& directory, const std::filesystem::path& files);
  nginx_process(const nginx_process&) = delete;
  nginx_process& operator=(const nginx_process&) = delete;
  ~nginx_process();

  std::string url() const;

private:
  std::uint16_t port_;
  peer_program running_;
};

} // namespace hearth::bench
