#include "runtime/front/compiler_behind.hpp"

#include "runtime/os/find_program.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <sys/stat.h>
#include <vector>

namespace hearth::front {
namespace {

// Programs that change PATH could go round for ever.
constexpr std::ptrdiff_t most_behind = 32;

bool is_same_file(const std::string& path, const struct stat& other) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && found.st_dev == other.st_dev &&
         found.st_ino == other.st_ino;
}

// The last of the paths with this name; empty: there is none.
std::string_view last_named(std::string_view paths, std::string_view name) {
  std::string_view last;
  while (!paths.empty()) {
    const auto end = paths.find(':');
    const auto path = paths.substr(0, end);
    if (path.substr(path.rfind('/') + 1) == name) last = path;
    paths.remove_prefix(end == paths.npos ? paths.size() : end + 1);
  }
  return last;
}

} // namespace

std::optional<std::string> compiler_behind(const std::string& name) {
  struct stat self {};
  if (::stat("/proc/self/exe", &self) != 0) return std::nullopt;
  const auto* const kept = std::getenv(compilers_behind_variable);
  const std::string before(kept ? kept : "");
  if (std::count(before.begin(), before.end(), ':') >= most_behind) return std::nullopt;
  std::vector<std::string> candidates;
  for (const auto folder : os::folders_in(os::search_path()))
    candidates.push_back(std::string(folder.empty() ? "." : folder) + "/" + name);
  const auto last = std::find(candidates.begin(), candidates.end(), last_named(before, name));
  const auto found =
      std::find_if(last == candidates.end() ? candidates.begin() : last + 1, candidates.end(),
                   [&](const std::string& candidate) {
                     return os::is_program(candidate) && !is_same_file(candidate, self);
                   });
  if (found == candidates.end()) return std::nullopt;
  ::setenv(compilers_behind_variable, (before.empty() ? *found : before + ":" + *found).c_str(), 1);
  return *found;
}

} // namespace hearth::front
