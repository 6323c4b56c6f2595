#include "runtime/launcher/compile_variables.hpp"

#include <algorithm>
#include <array>

namespace hearth::launcher {

bool is_keyed_variable(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 19> names{"CLICOLOR",
                                                   "CLICOLOR_FORCE",
                                                   "COLUMNS",
                                                   "COMPILER_PATH",
                                                   "CPATH",
                                                   "CPLUS_INCLUDE_PATH",
                                                   "C_INCLUDE_PATH",
                                                   "GCC_COLORS",
                                                   "GCC_EXEC_PREFIX",
                                                   "GCC_EXTRA_DIAGNOSTIC_OUTPUT",
                                                   "GCC_URLS",
                                                   "LANG",
                                                   "LANGUAGE",
                                                   "LIBRARY_PATH",
                                                   "NO_COLOR",
                                                   "OBJC_INCLUDE_PATH",

                                                   "SOURCE_DATE_EPOCH",
                                                   "TERM",
                                                   "TERM_URLS"};
  return name.starts_with("LC_") || name.starts_with("CLANG_") || name.starts_with("LD_") ||
         std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace hearth::launcher
