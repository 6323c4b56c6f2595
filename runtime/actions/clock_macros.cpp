#include "runtime/actions/clock_macros.hpp"

#include "runtime/fingerprints/files/file_source.hpp"
#include "runtime/os/files/whole_file.hpp"

namespace hearth {

bool uses_clock(std::string_view text, bool is_dated) {
  constexpr std::string_view start = "__TIME"; // also of __TIMESTAMP__
  for (auto at = text.find(start); at != text.npos; at = text.find(start, at + start.size())) {
    const auto rest = text.substr(at + start.size());
    if (rest.starts_with("STAMP__") || (!is_dated && rest.starts_with("__"))) return true;
  }
  return !is_dated && text.find("__DATE__") != text.npos;
}

std::string first_with_clock(const std::vector<std::string>& paths, bool is_dated) {
  constexpr std::size_t most_bytes = std::size_t{256} << 20;
  for (const auto& path : paths) {
    constexpr std::string_view program = "\x7f"
                                         "ELF";
    constexpr std::string_view archive = "!<arch>";
    const auto start = fingerprints::read_prefix(path, archive.size());
    if (!start || start->starts_with(program) || start->starts_with(archive)) continue;
    const auto text = os::read_whole_file(path, most_bytes);
    if (text && uses_clock(*text, is_dated)) return path;
  }
  return {};
}

} // namespace hearth
