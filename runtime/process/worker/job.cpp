#include "runtime/process/worker/job.hpp"

#include "messages/value.hpp"

#include <iterator>

namespace hearth::worker {
namespace {

value::array texts(const std::vector<std::string>& items) { return {items.begin(), items.end()}; }

bool read_text(const value& from, std::string_view name, std::string& to) {
  const auto* member = from.find(name);
  const auto* text = member ? member->as<std::string>() : nullptr;
  if (text) to = *text;
  return text != nullptr;
}

bool read_texts(const value& from, std::string_view name, std::vector<std::string>& to) {
  const auto* member = from.find(name);
  const auto* items = member ? member->as<value::array>() : nullptr;
  if (!items) return false;
  for (const auto& item : *items) {
    const auto* text = item.as<std::string>();
    if (!text) return false;
    to.push_back(*text);
  }
  return true;
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

} // namespace

std::string encode_job(const job& asked) {
  return encode(value::map{{"host", asked.host},
                           {"program", asked.program},
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
      !read_limits(*decoded, asked.limits))
    return fail(errc::malformed, "a job lacks a member");
  asked.host = *host;
  asked.watch = static_cast<watching>(*watch);
  return asked;
}

} // namespace hearth::worker
