#include "runtime/front/compiler_behind.hpp"

#include "runtime/os/find_program.hpp"

#include <algorithm>
#include <string_view>
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
  const auto path = os::search_path();
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find(':', begin), path.size());
    const std::string folder(path.substr(begin, end - begin));
    auto candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (os::is_program(candidate) && !is_same_file(candidate, self)) return candidate;
    begin = end + 1;
  }
  return std::nullopt;
}

} // namespace hearth::front
