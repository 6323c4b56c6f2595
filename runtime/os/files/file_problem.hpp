// The errors of file operations. Any thread.
#pragma once

#include "messages/error.hpp"

#include <cerrno>
#include <filesystem>
#include <string>

namespace hearth::os {

/// `errno` as an error: "cannot <what> <path>", and why.
inline error cannot(const char* what, const std::filesystem::path& path) {
  return error_of_errno(errno, std::string("cannot ") + what + " " + path.string());
}

} // namespace hearth::os
