// The preprocessor directives of source text, read without a compiler: what a file asks for by
// `#include` and `__has_include`, and whether a macro can decide which files are read.
//
// Nothing here preprocesses. Each answer errs to one side only: a directive that the compiler sees
// is never missed, while one in a comment, a raw string or a skipped branch may be taken for real.
// So more names may be reported than are looked for, and a macro may be said to decide where it
// does not; never the other way round. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::fingerprints {

/// A name by which a file asks for another.
struct include_name {
  std::string name; ///< between the quotes or angle brackets
  bool quoted = false;
  friend auto operator<=>(const include_name&, const include_name&) = default;
};

struct directive {
  std::string name; ///< "if", "include", "define", ...
  std::string text; ///< what follows, comments and all, on one line
};

/// A macro that makes names by `##`.
struct pasting_macro {
  std::string name;
  std::string left; ///< what a name that it makes begins with; empty: anything
};

/// What is known of one file's text.
struct source_text {
  std::vector<directive> directives; ///< in order; those that bear on what is read or defined
  std::vector<include_name> names;   ///< of #include, __has_include and their like; sorted
  std::vector<pasting_macro> pastes;
  std::vector<std::uint64_t> words; ///< `fast_hash` of each name in the directives; sorted
  /// Whether it may look for files by names that its text does not show: `__has_include` of a
  /// macro, #embed, .incbin in assembly, spellings that no one uses (trigraphs, lone carriage
  /// returns). What is found for such a file cannot be remembered.
  bool opaque = false;
  /// Whether it speaks of .incbin, which reads a file that the compiler lists nowhere.
  bool mentions_incbin = false;
  bool includes_by_macro = false;   ///< `#include MACRO`
  bool nests_doubtfully = false;    ///< a directive stands in a comment or a raw string
  bool has_pragma_operator = false; ///< `_Pragma`
  /// A word that a pragma uses to change macros: target, optimize, push_macro, ...
  bool has_macro_pragma_word = false;
};

/// Reads a file's text.
source_text read_source(std::string_view text);

/// A file of a closure and whose it is.
struct inspected_file {
  const source_text* text = nullptr;
  bool own = false; ///< not one of the system's headers
};

/// Whether it could depend on the definition of one of `macros` which files the compiler reads,
/// when it read `files` under some definition of them. False is certain: then it reads the same
/// files whatever the macros are defined as. The reasoning: a lookup depends on a macro only
/// through a directive, so the macros that may differ between definitions are tracked from
/// `macros` through conditionals, the definitions inside them, replacement lists and `##`, to an
/// #include that stands under such a conditional or is spelled by such a macro.
bool inclusion_depends_on(std::span<const std::string> macros,
                          std::span<const inspected_file> files);

} // namespace hearth::fingerprints
