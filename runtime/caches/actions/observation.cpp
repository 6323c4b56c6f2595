#include "runtime/caches/actions/observation.hpp"

#include "messages/dependency_file.hpp"
#include "messages/value.hpp"
#include "runtime/caches/actions/action_key.hpp"
#include "runtime/fingerprints/files/file_view.hpp"

#include <algorithm>
#include <map>
#include <set>

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
                              std::int64_t start_ns) {
  const auto names = read_dependencies(dependencies);
  if (!names) return fail(names.error().within(asked.dependency_file.string()));
  const auto declared = declared_places(asked);
  fingerprints::file_view files;
  std::map<std::string, fingerprints::file_content> found;
  for (const auto& name : *names) {
    const auto place = place_of(asked, name);
    if (declared.contains(place)) continue;
    auto content = files.content(place.string());
    if (!content) return fail(content.error());
    const auto& stamp = content->stamp;
    if (std::max(stamp.mtime_ns, stamp.ctime_ns) > start_ns)
      return fail(errc::busy, place.string() + " changed while the command ran");
    found.insert_or_assign(fs::path(name).lexically_normal().generic_string(), *content);
  }
  return encode(value::map{{"files", fingerprints::by_path(found)}});
}

bool holds(const std::string& observation, const action& asked) {
  const auto decoded = decode_value(observation);
  if (!decoded) return false;
  const auto files = fingerprints::read_by_path(decoded->find("files"), fingerprints::read_content);
  if (!files) return false;
  fingerprints::file_view view;
  return std::all_of(files->begin(), files->end(), [&](const auto& file) {
    const auto place = place_of(asked, file.first).string();
    view.trust(place, file.second);
    const auto now = view.content(place);
    return now && now->content == file.second.content;
  });
}

} // namespace hearth
