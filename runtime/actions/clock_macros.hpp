// Sources whose compiles depend on more than the bytes that are read: on the compiler's clock
// (__DATE__, __TIME__, __TIMESTAMP__), on which files are the same one (#pragma once), on
// precompiled headers. Reads files; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// Whether the text may use the clock. `is_dated`: the compiler takes the date from
/// SOURCE_DATE_EPOCH, so that only __TIMESTAMP__, the time of the source file, depends on anything
/// else. `with_parts`: also by names that it puts together of parts.
bool uses_clock(std::string_view text, bool is_dated, bool with_parts = true);

/// Why what a compiler makes of these files does not depend on their bytes alone; empty: it does,
/// as far as is known. Programs, archives and files that cannot be read are passed over.
std::string more_than_bytes(const std::vector<std::string>& paths, bool is_dated);

} // namespace hearth
