#include "runtime/actions/hidden_inputs.hpp"

#include "messages/hash.hpp"
#include "runtime/fingerprints/files/file_source.hpp"
#include "runtime/fingerprints/watched/questions.hpp"
#include "runtime/os/files/whole_file.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace hearth {
namespace {

constexpr std::array<std::string_view, 3> clock_names{"__DATE__", "__TIME__", "__TIMESTAMP__"};

bool is_of_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$';
}

// Lines that end in a backslash, or in its trigraph, go on in the next one.
std::string with_joined_lines(std::string_view text) {
  std::string joined;
  for (std::size_t at = 0; at < text.size();) {
    const auto rest = text.substr(at);
    for (const std::string_view end : {"\\\n", "\\\r\n", "?\?/\n", "?\?/\r\n"})
      if (rest.starts_with(end)) {
        at += end.size();
        break;
      }
    if (at < text.size() && rest.data() == text.data() + at) joined += text[at++];
  }
  return joined;
}

// Whether `##` could make a name of this identifier and others: it is a beginning or an end of one
// that no other name has.
bool is_part_of_clock(std::string_view identifier) {
  constexpr std::size_t shortest = 3;
  return identifier.size() >= shortest &&
         std::any_of(clock_names.begin(), clock_names.end(), [&](std::string_view name) {
           return name.size() > identifier.size() &&
                  (name.starts_with(identifier) || name.ends_with(identifier));
         });
}

} // namespace

bool uses_clock(std::string_view given, bool is_dated, bool with_parts) {
  const bool has_joined_lines = given.find("\\\n") != given.npos ||
                                given.find("\\\r\n") != given.npos ||
                                given.find("?\?/") != given.npos;
  const auto joined = has_joined_lines ? with_joined_lines(given) : std::string();
  const auto text = has_joined_lines ? std::string_view(joined) : given;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_of_identifier(text[at])) {
      ++at;
      continue;
    }
    auto end = at;
    while (end < text.size() && is_of_identifier(text[end]))
      ++end;
    const auto identifier = text.substr(at, end - at);
    at = end;
    if (identifier == "__TIMESTAMP__" || (with_parts && is_part_of_clock(identifier))) return true;
    if (!is_dated && (identifier == "__DATE__" || identifier == "__TIME__")) return true;
  }
  return false;
}

std::string hidden_input_of(const std::vector<std::string>& paths, bool is_dated) {
  constexpr std::size_t most_bytes = std::size_t{256} << 20;
  constexpr std::string_view program = "\x7f"
                                       "ELF";
  constexpr std::string_view archive = "!<arch>";
  std::map<digest, std::string> read_once;
  for (const auto& path : paths) {
    const auto start = fingerprints::read_prefix(path, archive.size());
    if (!start || start->starts_with(program) || start->starts_with(archive)) continue;
    if (path.ends_with(".gch") || path.ends_with(".pch")) return path + " is precompiled";
    const auto text = os::read_whole_file(path, most_bytes);
    if (!text) continue;
    // Headers of the system have names of their own that begin so, such as __TIME.
    if (uses_clock(*text, is_dated, !fingerprints::is_of_system(path)))
      return path + " may use the clock: __DATE__, __TIME__ or __TIMESTAMP__";
    if (text->find("once") == text->npos && text->find("import") == text->npos) continue;
    const auto [same, is_new] = read_once.emplace(sha256(*text), path);
    if (!is_new) return path + " has the content of " + same->second + " and is included once";
  }
  return {};
}

} // namespace hearth
