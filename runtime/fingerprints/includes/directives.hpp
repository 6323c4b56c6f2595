// The preprocessor directives of source text, read without a compiler: the names in `#include` and
// `__has_include`, and whether a macro can decide which files are read.
//
// This code does not preprocess. Its results err on one side only: it never misses a directive that
// the compiler sees, but may count one in a comment, a raw string or a skipped branch. So it may
// report names that the compiler does not look for, and call a macro decisive that is not; never
// the reverse. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::fingerprints {

/// A name by which one file includes another.
struct include_name {
  std::string name; ///< between the quotes or angle brackets
  bool quoted = false;
  friend auto operator<=>(const include_name&, const include_name&) = default;
};

struct directive {
  std::string name; ///< "if", "include", "define", ...
  std::string text; ///< the rest, comments included, on one line
};

/// A macro that forms names by `##`.
struct pasting_macro {
  std::string name;
  std::string left; ///< prefix of the names that it forms; empty: any
};

/// The facts about one file's text.
struct source_text {
  std::vector<directive> directives; ///< in order; only those that affect inclusions or macros
  std::vector<include_name> names;   ///< names in #include, __has_include and the like; sorted
  std::vector<pasting_macro> pastes;
  std::vector<std::uint64_t> words; ///< `fast_hash` of each name in the directives; sorted
  /// Whether it may look for files by names that its text does not show: `__has_include` of a
  /// macro, #embed, .incbin in assembly, rare spellings (trigraphs, lone carriage returns). The
  /// scans of such a file are not remembered.
  bool opaque = false;
  /// Whether it contains .incbin, which reads a file that the compiler does not list.
  bool mentions_incbin = false;
  bool includes_by_macro = false;   ///< `#include MACRO`
  bool nests_doubtfully = false;    ///< a directive is in a comment or a raw string
  bool has_pragma_operator = false; ///< `_Pragma`
  /// A word that a pragma uses to change macros: target, optimize, push_macro, ...
  bool has_macro_pragma_word = false;
};

/// Reads a file's text.
source_text read_source(std::string_view text);

/// A file of a closure, and its origin.
struct inspected_file {
  const source_text* text = nullptr;
  bool own = false; ///< not a system header
};

/// Whether the definitions of `macros` may decide which files the compiler reads, given that it
/// read `files` under some definition of them. False is certain: the compiler then reads the same
/// files under every definition. The reasoning: a lookup depends on a macro only through a
/// directive, so the macros that may differ between definitions are tracked from `macros` through
/// conditionals, the definitions inside them, replacement lists and `##`, to an #include under such
/// a conditional or spelled by such a macro.
bool inclusion_depends_on(std::span<const std::string> macros,
                          std::span<const inspected_file> files);

} // namespace hearth::fingerprints
