#include "runtime/caches/actions/observation.hpp"

#include "messages/dependency_file.hpp"
#include "runtime/caches/actions/action_key.hpp"

#include <set>
#include <vector>

namespace hearth {
namespace {

namespace fs = std::filesystem;

// The paths that the key covers already, and the outputs of the action.
std::set<fs::path> declared_places(const action& asked) {
  std::set<fs::path> all;
  for (const auto& name : asked.inputs)
    all.insert(place_of(asked, name));
  for (const auto& [name, text] : asked.texts)
    all.insert(place_of(asked, name));
  for (const auto& name : asked.outputs)
    all.insert(place_of(asked, name));
  return all;
}

} // namespace

expected<std::string> observe(const action& asked, std::string_view dependencies,
                              const fingerprints::start_of_run& start) {
  const auto names = read_dependencies(dependencies);
  if (!names) return fail(names.error().within(asked.dependency_file.string()));
  const auto declared = declared_places(asked);
  std::vector<fingerprints::named_file> read;
  for (const auto& name : *names)
    if (const auto place = place_of(asked, name); !declared.contains(place))
      read.push_back({fs::path(name).lexically_normal().generic_string(), place.string()});
  fingerprints::file_view files;
  return fingerprints::observe(read, start, files);
}

bool holds(const std::string& observation, const action& asked) {
  fingerprints::file_view files;
  return fingerprints::holds(
      observation, [&](const std::string& name) { return place_of(asked, name).string(); }, files);
}

} // namespace hearth
