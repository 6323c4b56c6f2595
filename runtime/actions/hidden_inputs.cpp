#include "runtime/actions/hidden_inputs.hpp"

#include "runtime/fingerprints/watched/questions.hpp"
#include "runtime/os/files/plain_file.hpp"
#include "runtime/os/files/whole_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
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

// The bytes of the line join at this place; 0: there is none. Lines that end in a backslash, or in
// its trigraph, go on in the next one; compilers pass over blanks behind it.
std::size_t join_at(std::string_view text, std::size_t at) {
  const auto rest = text.substr(at);
  std::size_t end = rest.starts_with('\\') ? 1 : rest.starts_with("?\?/") ? 3 : 0;
  if (end == 0) return 0;
  end = std::min(rest.find_first_not_of(" \t\f\v\r", end), rest.size());
  return end < rest.size() && rest[end] == '\n' ? end + 1 : 0;
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

// A text whose identifiers do not go on in the next line: the given one, which has to outlive this,
// or a copy with its lines joined.
class joined_text {
public:
  explicit joined_text(std::string_view given)
      : given_(given)
      , joined_(splits_identifier(given) ? with_joined_lines(given) : std::string()) {}
  std::string_view view() const noexcept {
    return joined_.empty() ? given_ : std::string_view(joined_);
  }

private:
  std::string_view given_;
  std::string joined_;
};

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

// Whether the identifier is a part from the middle of one of the names, of three letters or more:
// `TIME` in `__##TIME##__`.
bool is_inner_part(std::string_view identifier) {
  constexpr std::size_t shortest = 3;
  return identifier.size() >= shortest &&
         std::any_of(clock_names.begin(), clock_names.end(),
                     [&](std::string_view name) { return name.find(identifier) != name.npos; });
}

// Calls `take` with each identifier until it returns true; returns whether it has.
template <class Take>
bool any_identifier(std::string_view text, Take take) {
  for (std::size_t at = 0; at < text.size();) {
    const auto start = at;
    while (at < text.size() && is_of_identifier(text[at]))
      ++at;
    if (at == start)
      ++at;
    else if (take(text.substr(start, at - start)))
      return true;
  }
  return false;
}

bool has_part_of_clock(std::string_view text) { return any_identifier(text, is_part_of_clock); }

bool joined_uses_clock(std::string_view text, bool is_dated, bool with_parts) {
  return has_clock_name(text, is_dated) || (with_parts && has_part_of_clock(text));
}

// Whether `##` joins more than the arguments of a variadic macro to a comma.
bool joins_tokens(std::string_view text) {
  for (auto at = place_of_text(text, "##"); at != text.size();) {
    const auto next = std::min(text.find_first_not_of(" \t", at + 2), text.size());
    if (!text.substr(next).starts_with("__VA_ARGS__")) return true;
    at = place_of_text(text, "##", next);
  }
  return contains(text, "%:%:") || contains(text, "?\?=?\?=");
}

// What the texts of a compile have of a name of the clock that is put together of three parts or
// more, which may be in several files: `#define A(x) __##x##__` here, `A(TIME)` there.
class clock_parts {
public:
  void add(std::string_view text) { // of a `joined_text`
    joins_ = joins_ || joins_tokens(text);
    any_identifier(text, [this](std::string_view identifier) {
      has_inner_ = has_inner_ || is_inner_part(identifier);
      has_two_underscores_ = has_two_underscores_ || identifier == "__";
      has_one_underscore_ = has_one_underscore_ || identifier == "_";
      return has_inner_ && has_two_underscores_ && has_one_underscore_;
    });
  }
  // A name begins and ends with underscores, which are parts of their own here. One alone is a
  // common name: it counts where tokens are joined.
  bool may_be_joined() const noexcept {
    return has_inner_ && (has_two_underscores_ || (has_one_underscore_ && joins_));
  }

private:
  bool has_inner_ = false;
  bool has_two_underscores_ = false;
  bool has_one_underscore_ = false;
  bool joins_ = false;
};

// The text without the blanks, joined lines and comments at its end.
std::string_view without_blank_end(std::string_view text) {
  for (;;) {
    const auto last = text.find_last_not_of(" \t\f\v\r\n\\");
    text = text.substr(0, last == text.npos ? 0 : last + 1);
    if (!text.ends_with("*/")) return text;
    const auto comment = text.rfind("/*", text.size() - 3);
    text = text.substr(0, comment == text.npos ? 0 : comment);
  }
}

// `GCC dependency "file"`, of a pragma: the compiler compares the times of the two files.
bool compares_times(std::string_view text) {
  constexpr std::string_view pragma = "dependency";
  for (auto at = place_of_text(text, pragma); at != text.size();
       at = place_of_text(text, pragma, at + pragma.size())) {
    const auto before = without_blank_end(text.substr(0, at));
    if (before.size() < at && (before.ends_with("GCC") || before.ends_with("clang"))) return true;
  }
  return false;
}

// Whether a file is included once only, by its own words or by those that include it.
bool is_for_once(std::string_view text) {
  return contains(text, "once") || contains(text, "import");
}

// Whether the bytes are the start of a precompiled header of gcc: "gpch", the language, the
// version, and then bytes that no text has.
bool is_precompiled_by_gcc(std::string_view start) {
  constexpr std::string_view mark = "gpch", languages = "C+oO";
  constexpr std::size_t language_at = 4, version_at = 5, checksum_at = 8;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return start.size() > checksum_at && start.starts_with(mark) &&
         languages.find(start[language_at]) != languages.npos &&
         std::all_of(start.begin() + version_at, start.begin() + checksum_at, is_digit) &&
         start.find('\0', checksum_at) != start.npos;
}

} // namespace

bool uses_clock(std::string_view given, bool is_dated, bool with_parts) {
  return joined_uses_clock(joined_text(given).view(), is_dated, with_parts);
}

bool is_precompiled_by_clang(std::string_view bytes) { return bytes.starts_with("CPCH"); }

std::string hidden_input_of(const std::vector<std::string>& paths, bool is_dated,
                            const std::vector<std::string>& words) {
  constexpr std::size_t most_bytes = std::size_t{256} << 20;
  constexpr std::string_view program = "\x7f"
                                       "ELF";
  constexpr std::string_view archive = "!<arch>";
  constexpr std::size_t start_bytes = 256;
  std::multimap<std::size_t, std::string> read; // by size
  bool may_be_once = false;
  std::optional<std::string> twice; // why that would count
  clock_parts parts;
  for (const auto& word : words)
    parts.add(joined_text(word).view());
  for (const auto& path : paths) {
    const auto file = os::open_regular(path);
    if (!file) continue;
    std::array<char, start_bytes> bytes;
    const auto count = ::pread(file->get(), bytes.data(), bytes.size(), 0);
    const std::string_view start(bytes.data(), count < 0 ? 0 : static_cast<std::size_t>(count));
    if (count < 0 || start.starts_with(program) || start.starts_with(archive)) continue;
    // Its bytes decide, and nothing else of the headers that it was made of.
    if (is_precompiled_by_gcc(start)) continue;
    if (path.ends_with(".gch") || path.ends_with(".pch") || is_precompiled_by_clang(start))
      return path + " is precompiled";
    const auto text = os::read_rest(*file, path, most_bytes);
    if (!text) continue;
    // Headers of the system have names of their own that begin so, such as __TIME.
    const bool is_of_system = fingerprints::is_of_system(path);
    const joined_text joined(*text);
    if (!is_of_system) parts.add(joined.view());
    if (parts.may_be_joined() || joined_uses_clock(joined.view(), is_dated, !is_of_system))
      return path + " may use the clock: __DATE__, __TIME__ or __TIMESTAMP__";
    if (compares_times(joined.view())) return path + " compares its time with another file's";
    may_be_once = may_be_once || is_for_once(joined.view());
    const auto [same, end] = read.equal_range(text->size());
    for (auto at = same; !twice && at != end; ++at)
      if (os::read_whole_file(at->second, most_bytes) == *text)
        twice = path + " has the content of " + at->second + " and is included once";
    if (twice && may_be_once) return *twice;
    read.emplace(text->size(), path);
  }
  return {};
}

} // namespace hearth
