#include "runtime/launcher/uncached.hpp"

#include <algorithm>
#include <array>

namespace hearth::launcher {

std::string_view reason_text(uncached why) noexcept {
  // In the order of `uncached`.
  constexpr std::array<std::string_view, 24> texts{
      "cached",
      "links",
      "preprocesses only",
      "no source file",
      "several source files",
      "source on standard input",
      "an input that is not a source file",
      "another language",
      "several architectures",
      "code for an accelerator",
      "saves temporary files",
      "traces the compiler's time",
      "modules",
      "precompiled header",
      "output on standard output",
      "output to a device",
      "further output files",
      "unclear output names",
      "asks about the compiler",
      "unsupported option",
      "incomplete command line",
      "unusable response file",
      "environment variable",
      "an output outside of the folder",
  };
  static_assert(texts.size() == static_cast<std::size_t>(uncached::output_elsewhere) + 1);
  const auto index = static_cast<std::size_t>(why);
  return index < texts.size() ? texts[index] : "unknown";
}

bool is_unsupported_variable(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 14> names{
      "AS_SECURE_LOG_FILE",
      "FORCE_CLANG_DIAGNOSTICS_CRASH",
      "CCC_ADD_ARGS",
      "CCC_OVERRIDE_OPTIONS",
      "CC_LOG_DIAGNOSTICS",
      "CC_PRINT_HEADERS",
      "CC_PRINT_INTERNAL_STAT",
      "CC_PRINT_OPTIONS",
      "CC_PRINT_PROC_STAT",
      "DEPENDENCIES_OUTPUT",
      "GCC_COMPARE_DEBUG",
      "SUNPRO_DEPENDENCIES",
      "QA_OVERRIDE_GCC3_OPTIONS",
      "RC_DEBUG_OPTIONS",
  };
  return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace hearth::launcher
