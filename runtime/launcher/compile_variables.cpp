#include "runtime/launcher/compile_variables.hpp"

#include <algorithm>
#include <array>

namespace hearth::launcher {

bool is_keyed_variable(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 32> names{
      // gcc
      "COLLECT_AS_OPTIONS", "COMPILER_PATH", "CPATH", "GCC_COLORS", "GCC_EXEC_PREFIX",
      "GCC_EXTRA_DIAGNOSTIC_OUTPUT", "GCC_URLS", "LIBRARY_PATH", "OFFLOAD_TARGET_NAMES",
      "SOURCE_DATE_EPOCH",
      // clang: headers of other systems, and what a target is taken for
      "EXTERNAL_INCLUDE", "INCLUDE", "OBJECT_MODE", "SDKROOT", "UCRTVersion", "UniversalCRTSdkDir",
      "VCINSTALLDIR", "VCToolsInstallDir", "VCToolsVersion", "WindowsSDKVersion", "WindowsSdkDir",
      // the C library: character sets and locales
      "GCONV_PATH", "LOCPATH", "OUTPUT_CHARSET",
      // messages
      "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LANG", "LANGUAGE", "NO_COLOR", "TERM", "TERM_URLS"};
  constexpr std::array<std::string_view, 7> beginnings{"CLANG_", "HIP_",  "LC_", "LD_",
                                                       "LLVM_",  "ROCM_", "SCE_"};
  constexpr std::array<std::string_view, 2> ends{"_DEPLOYMENT_TARGET", "_INCLUDE_PATH"};
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](auto beginning) { return name.starts_with(beginning); }) ||
         std::any_of(ends.begin(), ends.end(), [&](auto end) { return name.ends_with(end); }) ||
         std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace hearth::launcher
