// The names that gcc and clang give to outputs by themselves. Pure functions over text, any thread.
#pragma once

#include <string>
#include <string_view>

namespace hearth::launcher {

/// The part after the last `/`.
std::string_view file_name_of(std::string_view path) noexcept;

/// The part of the file name after its last dot ("c" of "src/a.b.c"); empty without one.
std::string_view suffix_of(std::string_view path) noexcept;

/// `path` with its file name's suffix replaced, or added if it has none: ("out/a.b.o", "d") gives
/// "out/a.b.d". How both compilers name a dependency file after `-o`.
std::string with_suffix(std::string_view path, std::string_view suffix);

/// The name of an output without `-o`: the source's, with another suffix, in the working directory.
std::string default_output(std::string_view source, std::string_view suffix);

/// Whether compilers name files after this output differently: a dot is its file name's first
/// character and its only dot (gcc ".x.su", clang ".su").
bool is_unclear_stem(std::string_view path) noexcept;

/// Whether two paths are the same text but for "./" and doubled slashes.
bool are_same_path(std::string_view a, std::string_view b);

} // namespace hearth::launcher
