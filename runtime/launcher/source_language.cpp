#include "runtime/launcher/source_language.hpp"

#include "runtime/launcher/output_names.hpp"

#include <algorithm>
#include <array>

namespace hearth::launcher {
namespace {

using enum uncached;

// Sorted by name.
constexpr std::array languages{
    source_language{"assembler", none, false, true},
    source_language{"assembler-with-cpp", none, true, true},
    source_language{"c"},
    source_language{"c++"},
    source_language{"c++-cpp-output", none, false},
    source_language{"c++-header", none, true, false, true},
    source_language{"c++-header-unit-header", modules},
    source_language{"c++-module", modules},
    source_language{"c++-module-cpp-output", modules},
    source_language{"c++-system-header", modules},
    source_language{"c++-system-module", modules},
    source_language{"c++-user-header", modules},
    source_language{"c-header", none, true, false, true},
    source_language{"cpp-output", none, false},
    source_language{"objc++-cpp-output", none, false},
    source_language{"objc-cpp-output", none, false},
    source_language{"objective-c"},
    source_language{"objective-c++"},
    source_language{"objective-c++-cpp-output", none, false},
    source_language{"objective-c++-header", precompiled_header},
    source_language{"objective-c-cpp-output", none, false},
    source_language{"objective-c-header", precompiled_header},
};

struct suffix_row {
  std::string_view suffix;
  std::string_view language;
};

// The suffixes that both compilers give the same meaning. Sorted by suffix.
constexpr std::array suffixes{
    suffix_row{"C", "c++"},
    suffix_row{"CPP", "c++"},
    suffix_row{"H", "c++-header"},
    suffix_row{"M", "objective-c++"},
    suffix_row{"S", "assembler-with-cpp"},
    suffix_row{"c", "c"},
    suffix_row{"c++", "c++"},
    suffix_row{"c++m", "c++-module"},
    suffix_row{"cc", "c++"},
    suffix_row{"ccm", "c++-module"},
    suffix_row{"cp", "c++"},
    suffix_row{"cpp", "c++"},
    suffix_row{"cppm", "c++-module"},
    suffix_row{"cxx", "c++"},
    suffix_row{"cxxm", "c++-module"},
    suffix_row{"h", "c-header"},
    suffix_row{"h++", "c++-header"},
    suffix_row{"hh", "c++-header"},
    suffix_row{"hp", "c++-header"},
    suffix_row{"hpp", "c++-header"},
    suffix_row{"hxx", "c++-header"},
    suffix_row{"i", "cpp-output"},
    suffix_row{"ii", "c++-cpp-output"},
    suffix_row{"iim", "c++-module-cpp-output"},
    suffix_row{"ixx", "c++-module"},
    suffix_row{"m", "objective-c"},
    suffix_row{"mi", "objective-c-cpp-output"},
    suffix_row{"mii", "objective-c++-cpp-output"},
    suffix_row{"mm", "objective-c++"},
    suffix_row{"s", "assembler"},
    suffix_row{"sx", "assembler-with-cpp"},
    suffix_row{"tcc", "c++-header"},
};

// Suffixes of languages that are not cached. Sorted.
constexpr std::array<std::string_view, 31> other_suffixes{
    "F",   "F03", "F08", "F90", "F95", "FOR", "FPP", "FTN", "adb",   "ads", "bc",
    "cl",  "cu",  "cuh", "cui", "d",   "di",  "f",   "f03", "f08",   "f90", "f95",
    "for", "fpp", "ftn", "go",  "hip", "ll",  "mod", "rs",  "swift",
};

template <class Row, std::size_t N, class Member>
constexpr const Row* find_row(const std::array<Row, N>& rows, std::string_view name,
                              Member Row::*member) {
  const auto at = std::lower_bound(rows.begin(), rows.end(), name,
                                   [&](const Row& row, auto text) { return row.*member < text; });
  return at != rows.end() && (*at).*member == name ? &*at : nullptr;
}

constexpr auto has_lower_name = [](const auto& a, const auto& b) { return a.name < b.name; };
constexpr auto has_lower_suffix = [](const auto& a, const auto& b) { return a.suffix < b.suffix; };
static_assert(std::is_sorted(languages.begin(), languages.end(), has_lower_name));
static_assert(std::is_sorted(suffixes.begin(), suffixes.end(), has_lower_suffix));
static_assert(std::is_sorted(other_suffixes.begin(), other_suffixes.end()));

std::string_view as_cxx(std::string_view language) {
  if (language == "c") return "c++";
  if (language == "cpp-output") return "c++-cpp-output";
  return language == "c-header" ? "c++-header" : language;
}

} // namespace

source_language language_named(std::string_view name) noexcept {
  const auto* const row = find_row(languages, name, &source_language::name);
  return row ? *row : source_language{{}, other_language};
}

source_language language_of_file(std::string_view path, bool is_cxx) noexcept {
  const auto suffix = suffix_of(path);
  if (const auto* const row = find_row(suffixes, suffix, &suffix_row::suffix))
    return language_named(is_cxx ? as_cxx(row->language) : row->language);
  const bool is_other = std::binary_search(other_suffixes.begin(), other_suffixes.end(), suffix);
  return {{}, is_other ? other_language : unknown_input};
}

bool is_clang_driver(std::string_view compiler) noexcept {
  return file_name_of(compiler).find("clang") != std::string_view::npos;
}

bool is_cxx_driver(std::string_view compiler) noexcept {
  auto name = file_name_of(compiler);
  const auto version = name.find_last_not_of("0123456789.");
  if (version != name.npos && name[version] == '-') name = name.substr(0, version);
  return name.ends_with("++");
}

} // namespace hearth::launcher
