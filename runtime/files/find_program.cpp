#include "runtime/files/find_program.hpp"

#include <algorithm>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

namespace hearth {
namespace {

std::string inside(std::string_view directory, std::string_view name) {
  if (name.starts_with('/') || directory.empty()) return std::string(name);
  return std::string(directory) + "/" + std::string(name);
}

} // namespace

bool is_program(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && !S_ISDIR(about.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::optional<std::string> find_in_path(std::string_view name, std::string_view path,
                                        std::string_view directory) {
  while (!path.empty()) {
    const auto part = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    auto candidate = inside(inside(directory, part.empty() ? "." : part), name);
    if (is_program(candidate)) return candidate;
  }
  return std::nullopt;
}

std::optional<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos)
    return is_program(name) ? std::optional(name) : std::nullopt;
  const char* path = std::getenv("PATH");
  return find_in_path(name, path ? path : "", "");
}

} // namespace hearth
