// The variables on which compiles depend.
#include "runtime/launcher/compile_variables.hpp"
#include "runtime/launcher/uncached.hpp"

#include <doctest/doctest.h>

#include <string_view>

namespace compile_variables_test {

using namespace hearth::launcher;

TEST_CASE("compile variables: those that gcc and clang read are part of the key") {
  for (const std::string_view name : {"CPATH",
                                      "C_INCLUDE_PATH",
                                      "CPLUS_INCLUDE_PATH",
                                      "OBJC_INCLUDE_PATH",
                                      "OBJCPLUS_INCLUDE_PATH",
                                      "INCLUDE",
                                      "EXTERNAL_INCLUDE",
                                      "SDKROOT",
                                      "MACOSX_DEPLOYMENT_TARGET",
                                      "WATCHOS_DEPLOYMENT_TARGET",
                                      "LLVM_OVERRIDE_PRODUCER",
                                      "VCToolsInstallDir",
                                      "OBJECT_MODE",
                                      "ROCM_PATH",
                                      "HIP_DEVICE_LIB_PATH",
                                      "SCE_ORBIS_SDK_DIR",
                                      "COLLECT_AS_OPTIONS",
                                      "SOURCE_DATE_EPOCH",
                                      "LC_ALL",
                                      "GCONV_PATH",
                                      "LOCPATH",
                                      "LD_PRELOAD",
                                      "GCC_EXEC_PREFIX"}) {
    CAPTURE(name);
    CHECK(is_keyed_variable(name));
  }
  for (const std::string_view name : {"HOME", "PWD", "MAKEFLAGS", "SHLVL", "INCLUDES", "TARGET"}) {
    CAPTURE(name);
    CHECK_FALSE(is_keyed_variable(name));
  }
}

TEST_CASE(
    "compile variables: with those that make compilers write more, compiles run as they are") {
  for (const std::string_view name :
       {"AS_SECURE_LOG_FILE", "DEPENDENCIES_OUTPUT", "FORCE_CLANG_DIAGNOSTICS_CRASH"})
    CHECK(is_unsupported_variable(name));
  CHECK_FALSE(is_unsupported_variable("CPATH"));
}

} // namespace compile_variables_test
