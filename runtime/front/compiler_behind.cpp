#include "runtime/front/compiler_behind.hpp"

#include "runtime/os/find_program.hpp"

#include <sys/stat.h>

namespace hearth::front {
namespace {

bool is_same_file(const std::string& path, const struct stat& other) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && found.st_dev == other.st_dev &&
         found.st_ino == other.st_ino;
}

} // namespace

std::optional<std::string> compiler_behind(const std::string& name) {
  struct stat self {};
  if (::stat("/proc/self/exe", &self) != 0) return std::nullopt;
  for (const auto folder : os::folders_in(os::search_path())) {
    auto candidate = std::string(folder.empty() ? "." : folder) + "/" + name;
    if (os::is_program(candidate) && !is_same_file(candidate, self)) return candidate;
  }
  return std::nullopt;
}

} // namespace hearth::front
