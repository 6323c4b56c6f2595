// Reads what compilers print about themselves. Pure functions over their output, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hearth::fingerprints {

/// The facts that `-v` and `-print-search-dirs` of a GCC or Clang driver print; missing ones stay
/// empty.
struct driver_answers {
  std::string target;                     ///< "x86_64-linux-gnu"
  std::string driver;                     ///< GCC: the driver that ran, as it was started
  std::string front_end;                  ///< the program that compiles: cc1plus, or clang itself
  std::vector<std::string> configuration; ///< specs and configuration files that were read
  std::string gcc_installation;           ///< Clang: the GCC whose headers and libraries it uses
  std::string resource_folder;            ///< Clang: its own headers, runtimes and lists
  /// Each folder in which an include may be found, as the compiler spells it: those searched now,
  /// those missing now, and those that are a second name of another.
  std::vector<std::string> include_directories;
  std::vector<std::string> program_directories; ///< in order; missing ones too
  std::vector<std::string> library_directories; ///< in order; missing ones too
};

/// Reads the output of `-E -v` and that of `-print-search-dirs`.
driver_answers read_answers(std::string_view verbose, std::string_view search_dirs);

/// The shared libraries that the dynamic loader lists ("\tlibx.so.1 => /lib/libx.so.1 (0x...)"), by
/// path; without the C library and the loader, which serve every program.
std::vector<std::string> read_loaded(std::string_view listing);

/// The parts of a list like PATH, empty ones left out.
std::vector<std::string> split_path(std::string_view list);

/// The files that make's rule `hearth: ...` of a compiler's `-M` depends on, as the compiler spells
/// them, each once, in order. Empty when the text is not such a rule.
std::vector<std::string> read_own_rule(std::string_view rule);

} // namespace hearth::fingerprints
