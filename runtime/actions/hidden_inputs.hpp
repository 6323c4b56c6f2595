// Hidden inputs of compiles, which are not the bytes of the files that they read: the compiler's
// clock (__DATE__, __TIME__, __TIMESTAMP__), which of two equal files are one (#pragma once), what
// a precompiled header was made of. Reads files; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// Whether the text may use the clock. `is_dated`: the compiler takes the date from
/// SOURCE_DATE_EPOCH, so that only __TIMESTAMP__, the time of the source file, depends on anything
/// else. `with_parts`: also by names that it puts together of parts.
bool uses_clock(std::string_view text, bool is_dated, bool with_parts = true);

/// Whether these bytes, or the first of them, are a precompiled header of clang, which has times of
/// the headers in it.
bool is_precompiled_by_clang(std::string_view bytes);

/// What a compile of these files may depend on besides their bytes, in words; empty: nothing that
/// is known. Programs, archives and files that cannot be read are passed over. `words`: the
/// command, whose macros may be parts of names, too.
std::string hidden_input_of(const std::vector<std::string>& paths, bool is_dated,
                            const std::vector<std::string>& words = {});

} // namespace hearth
