// The language of a source file, as gcc's and clang's drivers choose it. Pure functions, any
// thread.
#pragma once

#include "runtime/launcher/uncached.hpp"

#include <string_view>

namespace hearth::launcher {

/// A language by the name that `-x` takes ("c++", "assembler-with-cpp").
struct source_language {
  std::string_view name;             ///< points to static text; empty if unknown
  uncached why_not = uncached::none; ///< why a source in this language is not cached
  bool is_preprocessed = true;       ///< whether `#include` is carried out, and dependencies listed
  bool is_assembler = false;
  bool is_header = false; ///< it is precompiled
};

/// Of `-x name`; `other_language` for a name that is not known.
source_language language_named(std::string_view name) noexcept;

/// Of a file by its suffix. `is_cxx` says that the driver is g++ or clang++, which compile `.c` as
/// C++. `unknown_input` for a suffix that is not known: the file goes to the linker.
source_language language_of_file(std::string_view path, bool is_cxx) noexcept;

/// Whether a compiler's file name is a C++ driver's: g++, clang++-14, x86_64-linux-gnu-g++-12.
bool is_cxx_driver(std::string_view compiler) noexcept;
/// Whether it is clang's: clang, clang++-14, x86_64-linux-gnu-clang.
bool is_clang_driver(std::string_view compiler) noexcept;

} // namespace hearth::launcher
