#include "runtime/process/worker/job.hpp"

#include "messages/value.hpp"

#include <algorithm>
#include <iterator>

namespace hearth::worker {
namespace {

value::array texts(const std::vector<std::string>& items) { return {items.begin(), items.end()}; }

bool read_text(const value& from, std::string& to) {
  const auto* text = from.as<std::string>();
  if (text) to = *text;
  return text != nullptr;
}

bool read_text(const value& from, std::string_view name, std::string& to) {
  const auto* member = from.find(name);
  return member && read_text(*member, to);
}

bool read_texts(const value& from, std::vector<std::string>& to) {
  const auto* items = from.as<value::array>();
  if (!items) return false;
  return std::all_of(items->begin(), items->end(),
                     [&](const value& item) { return read_text(item, to.emplace_back()); });
}

bool read_texts(const value& from, std::string_view name, std::vector<std::string>& to) {
  const auto* member = from.find(name);
  return member && read_texts(*member, to);
}

value::array numbers(const resource_limits& limits) {
  value::array result;
  for (const auto number :
       {limits.memory_bytes, limits.cpu_seconds, limits.file_bytes, limits.open_files})
    result.emplace_back(static_cast<std::int64_t>(number));
  return result;
}

bool read_limits(const value& from, resource_limits& to) {
  const auto* member = from.find("limits");
  const auto* items = member ? member->as<value::array>() : nullptr;
  std::uint64_t* const places[] = {&to.memory_bytes, &to.cpu_seconds, &to.file_bytes,
                                   &to.open_files};
  if (!items || items->size() != std::size(places)) return false;
  for (std::size_t i = 0; i < items->size(); ++i) {
    const auto* number = (*items)[i].as<std::int64_t>();
    if (!number || *number < 0) return false;
    *places[i] = static_cast<std::uint64_t>(*number);
  }
  return true;
}

// Without a cover, an empty list.
value::array cover_of(const job& asked) {
  if (!asked.cover) return {};
  const auto& cover = *asked.cover;
  return {cover.folder,    cover.changes,       cover.work,
          cover.temporary, texts(cover.hidden), texts(cover.folders)};
}

bool read_cover(const value& from, std::optional<folder_cover>& to) {
  const auto* member = from.find("cover");
  const auto* items = member ? member->as<value::array>() : nullptr;
  if (!items) return false;
  if (items->empty()) return true;
  if (items->size() != 6) return false;
  to.emplace();
  std::string* const names[] = {&to->folder, &to->changes, &to->work, &to->temporary};
  std::vector<std::string>* const lists[] = {&to->hidden, &to->folders};
  for (std::size_t i = 0; i < items->size(); ++i) {
    const auto& item = (*items)[i];
    if (i < std::size(names) ? !read_text(item, *names[i])
                             : !read_texts(item, *lists[i - std::size(names)]))
      return false;
  }
  return true;
}

} // namespace

std::string encode_job(const job& asked) {
  return encode(value::map{{"host", asked.host},
                           {"program", asked.program},
                           {"cover", cover_of(asked)},
                           {"directory", asked.directory},
                           {"argv", texts(asked.argv)},
                           {"environment", texts(asked.environment)},
                           {"limits", numbers(asked.limits)},
                           {"scratch", asked.scratch},
                           {"watch", static_cast<std::int64_t>(asked.watch)}});
}

expected<job> decode_job(std::string_view bytes) {
  const auto decoded = decode_value(bytes);
  if (!decoded) return fail(decoded.error().within("a job"));
  job asked;
  const auto* member = decoded->find("host");
  const auto* host = member ? member->as<std::int64_t>() : nullptr;
  const auto* watched = decoded->find("watch");
  const auto* watch = watched ? watched->as<std::int64_t>() : nullptr;
  if (!host || !watch || *watch < 0 ||
      *watch > static_cast<std::int64_t>(watching::files_and_links) ||
      !read_text(*decoded, "program", asked.program) ||
      !read_text(*decoded, "directory", asked.directory) ||
      !read_text(*decoded, "scratch", asked.scratch) || !read_texts(*decoded, "argv", asked.argv) ||
      !read_texts(*decoded, "environment", asked.environment) ||
      !read_limits(*decoded, asked.limits) || !read_cover(*decoded, asked.cover))
    return fail(errc::malformed, "a job lacks a member");
  asked.host = *host;
  asked.watch = static_cast<watching>(*watch);
  return asked;
}

} // namespace hearth::worker
