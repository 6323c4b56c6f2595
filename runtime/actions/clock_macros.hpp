// Sources that use the compiler's clock: __DATE__, __TIME__, __TIMESTAMP__. Reads files; any
// thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// Whether the text may use the clock. `is_dated`: SOURCE_DATE_EPOCH is set, so that only
/// __TIMESTAMP__, the time of the source file, depends on anything else.
bool uses_clock(std::string_view text, bool is_dated);

/// The first of the files whose text may use the clock; empty: none does. Programs, archives and
/// files that cannot be read are passed over.
std::string first_with_clock(const std::vector<std::string>& paths, bool is_dated);

} // namespace hearth
