#include "runtime/fingerprints/observation.hpp"

#include "messages/value.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

namespace hearth::fingerprints {

bool may_have_changed(const file_stamp& stamp, const start_of_run& start) {
  return std::max(stamp.mtime_ns, stamp.ctime_ns) > start.time_ns ||
         (start.mounts && !start.mounts->contains(stamp.mount));
}

start_of_run::start_of_run(file_source& in)
    : time_ns(in.clock_ns())
    , mounts(in.mounts()) {}

void start_of_run::wait_until_changes_show() const {
  constexpr std::chrono::milliseconds step{1};
  constexpr int max_steps = 100; // a clock that was set back
  for (int i = 0; i < max_steps && file_clock_ns() <= time_ns; ++i)
    std::this_thread::sleep_for(step);
}

expected<std::string> observe(const std::vector<named_file>& files, const start_of_run& start,
                              file_view& in) {
  std::map<std::string, file_content> found;
  for (const auto& file : files) {
    auto content = in.content(file.path);
    if (!content) return fail(content.error());
    if (may_have_changed(content->stamp, start))
      return fail(errc::busy, file.path + " changed while the command ran");
    found.insert_or_assign(file.name, *content);
  }
  return encode(value::map{{"files", by_path(found)}});
}

std::vector<std::string> names_in(std::string_view observation) {
  const auto decoded = decode_value(observation);
  const auto files = decoded ? read_by_path(decoded->find("files"), read_content) : std::nullopt;
  std::vector<std::string> names;
  if (files)
    for (const auto& [name, content] : *files)
      names.push_back(name);
  return names;
}

bool holds(std::string_view observation,
           const std::function<std::string(const std::string&)>& path_of, file_view& in) {
  const auto decoded = decode_value(observation);
  if (!decoded) return false;
  const auto files = read_by_path(decoded->find("files"), read_content);
  if (!files) return false;
  return std::all_of(files->begin(), files->end(), [&](const auto& file) {
    const auto path = path_of(file.first);
    in.trust(path, file.second);
    const auto now = in.content(path);
    return now && now->content == file.second.content;
  });
}

} // namespace hearth::fingerprints
