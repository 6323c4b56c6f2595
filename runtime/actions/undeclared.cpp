#include "runtime/actions/undeclared.hpp"

#include "messages/sighting.hpp"
#include "runtime/actions/action_key.hpp"
#include "runtime/fingerprints/watched/questions.hpp"

#include <algorithm>
#include <set>
#include <sys/stat.h>

namespace hearth {
namespace {

using fingerprints::is_below;

bool is_file(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && !S_ISDIR(found.st_mode);
}

} // namespace

std::vector<std::string> undeclared_in(const action& asked, const action_request::run_record& run) {
  if (!run.process.blind_spot.empty()) return {};
  const auto seen = read_sightings(run.process.sightings);
  if (!seen) return {};
  const auto shown = std::filesystem::path(run.scratch).append("root").string();
  const auto folder = asked.directory.lexically_normal().string();
  const auto declared = declared_places(asked);
  std::set<std::string> names;
  for (const auto& one : *seen) {
    const bool is_in_view = is_below(one.path, shown);
    if (is_in_view && one.was_there) continue; // what it has made itself
    const auto place = std::filesystem::path(is_in_view ? one.path.substr(shown.size()) : one.path)
                           .lexically_normal()
                           .string();
    const bool is_declared = std::any_of(declared.begin(), declared.end(), [&](const auto& path) {
      return is_below(place, path.native());
    });
    if (is_below(place, folder) && !is_declared && is_file(place))
      names.insert(std::filesystem::path(place).lexically_relative(folder).string());
  }
  return {names.begin(), names.end()};
}

} // namespace hearth
