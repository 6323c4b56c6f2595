// A compiler as a key has to know it: the program, the programs and files that it works with, its
// settings under the plan's flags, and the environment in which it is started.
//
// One run (one plan) owns a toolchain; once identified it never changes, so any thread may read it.
#pragma once

#include "actors/ports/programs.hpp"
#include "messages/digest.hpp"
#include "messages/error.hpp"
#include "messages/process.hpp"
#include "messages/value.hpp"
#include "runtime/fingerprints/files/file_view.hpp"
#include "runtime/fingerprints/toolchain/fact_memo.hpp"

#include <chrono>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::fingerprints {

/// What a plan says of its compiler.
struct toolchain_request {
  std::string compiler;  ///< as written: a name to find in PATH, or a path relative to `directory`
  std::string directory; ///< the plan's folder, absolute; every compiler run happens in it
  std::vector<std::string> flags;             ///< each one argument, passed exactly
  std::vector<std::string> variables;         ///< the host's environment, "NAME=value"
  std::chrono::milliseconds deadline{60'000}; ///< for one query
};

/// A file that the compiler is made of or that its flags name.
struct toolchain_file {
  std::string role; ///< "driver", "cc1plus", "library crti.o", "flag -fplugin=x.so", ...
  std::string path; ///< where it is
  digest content;
};

struct toolchain {
  std::string compiler;  ///< absolute path with which it is started
  std::string directory; ///< working directory of every run
  std::vector<std::string> flags;
  std::vector<std::string> environment; ///< of every run, sorted: `compiler_environment`
  std::string version;                  ///< the first line of `--version`
  std::string target;                   ///< "x86_64-linux-gnu"
  std::vector<toolchain_file> files;    ///< sorted by role
  /// Every folder in which an include may be found, as the compiler spells it, missing ones too.
  std::vector<std::string> include_directories;
  /// Whether nothing stands between `compiler` and the compiler proper. A wrapper is asked again in
  /// each run, since nobody knows on which files its answers rest.
  bool direct = false;
  /// Whether the compiler explained itself as GCC and Clang do. If not, its includes are scanned
  /// anew in each run.
  bool understood = false;
  /// What a key holds of all this: SHA-256 of `to_value()`. The flags' text and the environment
  /// are fields of their own (`flags`, `keyed_variables`).
  digest identity;

  /// How it is started: the compiler, its flags, then `arguments`; in its folder and environment.
  process_request run(std::vector<std::string> arguments, std::chrono::milliseconds deadline) const;
  /// The same for a question that makes no program: without the flag `-shared`, warnings off.
  process_request query(std::vector<std::string> arguments,
                        std::chrono::milliseconds deadline) const;
};

/// Why a plan cannot use these flags, or nothing: those that name outputs or change what a run of
/// the compiler makes (-o, -c, -E, -M..., -save-temps), and those whose inputs no key can hold
/// (C++ modules, -wrapper). Errors: `invalid_argument`, `unsupported`.
expected<void> check_flags(std::span<const std::string> flags);

/// The environment in which compilers run, from the host's. Kept: PATH and TMPDIR, which no key
/// holds (what PATH selects is in the toolchain's identity), and the variables that choose headers,
/// libraries and programs, which every key holds: CPATH, C_INCLUDE_PATH, CPLUS_INCLUDE_PATH,
/// OBJC_INCLUDE_PATH, LIBRARY_PATH, COMPILER_PATH, GCC_EXEC_PREFIX, and SOURCE_DATE_EPOCH. Set:
/// LC_ALL=C; SOURCE_DATE_EPOCH=0 unless the host has one, so that __DATE__ and __TIME__ cannot make
/// two programs of one key. All others are gone, so that none can change a program: among them
/// DEPENDENCIES_OUTPUT and SUNPRO_DEPENDENCIES (which write files), LD_RUN_PATH,
/// CCC_OVERRIDE_OPTIONS and LD_LIBRARY_PATH. Sorted, each name once.
std::vector<std::string> compiler_environment(std::span<const std::string> variables);

/// Those of `environment` that a key holds, in the same order.
std::vector<std::string> keyed_variables(std::span<const std::string> environment);

/// The environment of this process. Not while another thread changes it.
std::vector<std::string> host_variables();

/// Finds the compiler and learns what it is. What it once said is kept in `memo` and used again
/// without starting it while every file that the answers rest on has its stamp. Errors: `not_found`
/// (no such compiler), `invalid_argument` and `unsupported` (`check_flags`), what `runner` and
/// reading files report, `cancelled`. A compiler that does not answer a question is no error.
expected<toolchain> identify(const toolchain_request& request, file_view& files,
                             actors::process_runner& runner, fact_memo& memo, std::stop_token stop);

} // namespace hearth::fingerprints
