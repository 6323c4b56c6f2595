#include "runtime/actions/hidden_inputs.hpp"

#include "runtime/fingerprints/files/file_source.hpp"
#include "runtime/fingerprints/watched/questions.hpp"
#include "runtime/os/files/whole_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

namespace hearth {
namespace {

constexpr std::array<std::string_view, 3> clock_names{"__DATE__", "__TIME__", "__TIMESTAMP__"};

constexpr std::array<bool, 256> identifier_characters() {
  std::array<bool, 256> all{};
  for (const char c :
       std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$"))
    all[static_cast<unsigned char>(c)] = true;
  return all;
}

bool is_of_identifier(char c) {
  static constexpr auto all = identifier_characters();
  return all[static_cast<unsigned char>(c)];
}

// The first place of `what` from `from` on; the text's size without one. Headers are scanned at
// each miss, and this is several times faster than `find`.
std::size_t place_of_text(std::string_view text, std::string_view what, std::size_t from = 0) {
  const auto* const at = ::memmem(text.data() + from, text.size() - from, what.data(), what.size());
  return at ? static_cast<std::size_t>(static_cast<const char*>(at) - text.data()) : text.size();
}

bool contains(std::string_view text, std::string_view what) {
  return place_of_text(text, what) != text.size();
}

// Lines that end in a backslash, or in its trigraph, go on in the next one.
constexpr std::array<std::string_view, 4> line_joins{"\\\n", "\\\r\n", "?\?/\n", "?\?/\r\n"};

// Whether an identifier may go on in the next line.
bool splits_identifier(std::string_view text) {
  return std::any_of(line_joins.begin(), line_joins.end(), [&](std::string_view join) {
    for (auto at = place_of_text(text, join); at != text.size();
         at = place_of_text(text, join, at + join.size())) {
      const auto next = at + join.size();
      if (at == 0 || next == text.size() || !is_of_identifier(text[at - 1])) continue;
      if (is_of_identifier(text[next]) || text[next] == '\\' || text[next] == '?') return true;
    }
    return false;
  });
}

std::string with_joined_lines(std::string_view text) {
  std::string joined;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of("\\?"), text.size());
    joined += text.substr(0, end);
    text.remove_prefix(end);
    const auto* const join = std::find_if(line_joins.begin(), line_joins.end(),
                                          [&](auto one) { return text.starts_with(one); });
    if (join != line_joins.end()) {
      text.remove_prefix(join->size());
    } else if (!text.empty()) {
      joined += text.front();
      text.remove_prefix(1);
    }
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

// Whether a name is there as an identifier of its own.
bool has_identifier(std::string_view text, std::string_view name) {
  for (auto at = place_of_text(text, name); at != text.size();
       at = place_of_text(text, name, at + name.size())) {
    const auto end = at + name.size();
    if ((at == 0 || !is_of_identifier(text[at - 1])) &&
        (end == text.size() || !is_of_identifier(text[end])))
      return true;
  }
  return false;
}

bool has_part_of_clock(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto start = at;
    while (at < text.size() && is_of_identifier(text[at]))
      ++at;
    if (at == start)
      ++at;
    else if (is_part_of_clock(text.substr(start, at - start)))
      return true;
  }
  return false;
}

} // namespace

bool uses_clock(std::string_view given, bool is_dated, bool with_parts) {
  const auto joined = splits_identifier(given) ? with_joined_lines(given) : std::string();
  const auto text = joined.empty() ? given : std::string_view(joined);
  const auto is_used = [&](std::string_view name) {
    return (!is_dated || name == "__TIMESTAMP__") && has_identifier(text, name);
  };
  return std::any_of(clock_names.begin(), clock_names.end(), is_used) ||
         (with_parts && has_part_of_clock(text));
}

bool is_precompiled_by_clang(std::string_view bytes) { return bytes.starts_with("CPCH"); }

std::string hidden_input_of(const std::vector<std::string>& paths, bool is_dated) {
  constexpr std::size_t most_bytes = std::size_t{256} << 20;
  constexpr std::string_view program = "\x7f"
                                       "ELF";
  constexpr std::string_view archive = "!<arch>";
  // Its bytes decide, and nothing else of the headers that it was made of.
  constexpr std::string_view precompiled_by_gcc = "gpch";
  std::multimap<std::size_t, std::string> read_once; // by size
  for (const auto& path : paths) {
    const auto start = fingerprints::read_prefix(path, archive.size());
    if (!start || start->starts_with(program) || start->starts_with(archive)) continue;
    if (start->starts_with(precompiled_by_gcc)) continue;
    if (path.ends_with(".gch") || path.ends_with(".pch") || is_precompiled_by_clang(*start))
      return path + " is precompiled";
    const auto text = os::read_whole_file(path, most_bytes);
    if (!text) continue;
    // Headers of the system have names of their own that begin so, such as __TIME.
    if (uses_clock(*text, is_dated, !fingerprints::is_of_system(path)))
      return path + " may use the clock: __DATE__, __TIME__ or __TIMESTAMP__";
    if (!contains(*text, "once") && !contains(*text, "import")) continue;
    const auto [same, end] = read_once.equal_range(text->size());
    for (auto at = same; at != end; ++at)
      if (os::read_whole_file(at->second, most_bytes) == *text)
        return path + " has the content of " + at->second + " and is included once";
    read_once.emplace(text->size(), path);
  }
  return {};
}

} // namespace hearth
