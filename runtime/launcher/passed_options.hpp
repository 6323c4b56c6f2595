// Options that gcc and clang pass on to a preprocessor, an assembler, clang's front end or LLVM:
// whether they make it write further files. Pure functions, any thread.
#pragma once

#include "runtime/launcher/uncached.hpp"

#include <string_view>

namespace hearth::launcher {

/// The first word of a comma-separated list, which is taken off it.
std::string_view take_word(std::string_view& list) noexcept;

/// Of the words after `-Wp,` or of an `-Xpreprocessor`. `none` if they can be cached.
uncached reason_of_preprocessor_options(std::string_view list) noexcept;

/// Of the words after `-Wa,` or of an `-Xassembler`: listings and dependencies are files, or go to
/// standard output.
uncached reason_of_assembler_options(std::string_view list) noexcept;

/// Of an LLVM option (`-mllvm`).
uncached reason_of_llvm_option(std::string_view word) noexcept;

/// The words after `-Xclang`, in order. Only kinds of options that are known to write nothing are
/// accepted.
class frontend_options {
public:
  /// Reads the next word. `none` if it can be cached.
  uncached reason_of_next(std::string_view word) noexcept;

  /// Whether a plug-in was named.
  bool has_plugin() const noexcept { return has_plugin_; }

private:
  bool has_words_ = false;
  bool is_llvm_next_ = false;
  bool has_plugin_ = false;
};

} // namespace hearth::launcher
