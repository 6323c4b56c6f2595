#include "runtime/actions/hidden_inputs.hpp"

#include "runtime/fingerprints/watched/questions.hpp"
#include "runtime/os/files/plain_file.hpp"
#include "runtime/os/files/whole_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <unistd.h>

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

// The bytes of the line join at this place; 0: there is none.
std::size_t join_at(std::string_view text, std::size_t at) {
  const auto* const join = std::find_if(line_joins.begin(), line_joins.end(),
                                        [&](auto one) { return text.substr(at).starts_with(one); });
  return join == line_joins.end() ? 0 : join->size();
}

// Whether an identifier may go on in the next line. A search for one character is several times as
// fast as one for two.
bool splits_identifier(std::string_view text) {
  const auto splits_at = [&](std::size_t at) {
    const auto next = at + join_at(text, at);
    if (next == at || at == 0 || next == text.size() || !is_of_identifier(text[at - 1]))
      return false;
    return is_of_identifier(text[next]) || text[next] == '\\' || text[next] == '?';
  };
  for (const char start : {'\\', '?'})
    for (auto at = text.find(start); at != text.npos; at = text.find(start, at + 1))
      if (splits_at(at)) return true;
  return false;
}

std::string with_joined_lines(std::string_view text) {
  std::string joined;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of("\\?"), text.size());
    joined += text.substr(0, end);
    text.remove_prefix(end);
    if (const auto join = join_at(text, 0); join != 0) {
      text.remove_prefix(join);
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

// Whether a name of the clock is there as an identifier of its own. Two of the names begin alike,
// so one search finds both.
bool has_clock_name(std::string_view text, bool is_dated) {
  const auto counts = [&](std::string_view name) {
    return std::find(clock_names.begin(), clock_names.end(), name) != clock_names.end() &&
           (!is_dated || name == "__TIMESTAMP__");
  };
  for (const std::string_view beginning : {"__DATE", "__TIME"})
    for (auto at = place_of_text(text, beginning); at != text.size();) {
      auto end = at + beginning.size();
      while (end < text.size() && is_of_identifier(text[end]))
        ++end;
      const bool is_whole = at == 0 || !is_of_identifier(text[at - 1]);
      if (is_whole && counts(text.substr(at, end - at))) return true;
      at = place_of_text(text, beginning, end);
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
  return has_clock_name(text, is_dated) || (with_parts && has_part_of_clock(text));
}

bool is_precompiled_by_clang(std::string_view bytes) { return bytes.starts_with("CPCH"); }

std::string hidden_input_of(const std::vector<std::string>& paths, bool is_dated) {
  constexpr std::size_t most_bytes = std::size_t{256} << 20;
  constexpr std::string_view program = "\x7f"
                                       "ELF";
  constexpr std::string_view archive = "!<arch>";
  // Its bytes decide, and nothing else of the headers that it was made of.
  constexpr std::string_view precompiled_by_gcc = "gpch";
  std::multimap<std::size_t, std::string> read; // by size
  for (const auto& path : paths) {
    const auto file = os::open_regular(path);
    if (!file) continue;
    std::array<char, archive.size()> bytes;
    const auto count = ::pread(file->get(), bytes.data(), bytes.size(), 0);
    const std::string_view start(bytes.data(), count < 0 ? 0 : static_cast<std::size_t>(count));
    if (count < 0 || start.starts_with(program) || start.starts_with(archive)) continue;
    if (start.starts_with(precompiled_by_gcc)) continue;
    if (path.ends_with(".gch") || path.ends_with(".pch") || is_precompiled_by_clang(start))
      return path + " is precompiled";
    const auto text = os::read_rest(*file, path, most_bytes);
    if (!text) continue;
    // Headers of the system have names of their own that begin so, such as __TIME.
    if (uses_clock(*text, is_dated, !fingerprints::is_of_system(path)))
      return path + " may use the clock: __DATE__, __TIME__ or __TIMESTAMP__";
    const auto [same, end] = read.equal_range(text->size());
    if (same != end && (contains(*text, "once") || contains(*text, "import")))
      for (auto at = same; at != end; ++at)
        if (os::read_whole_file(at->second, most_bytes) == *text)
          return path + " has the content of " + at->second + " and is included once";
    read.emplace(text->size(), path);
  }
  return {};
}

} // namespace hearth
