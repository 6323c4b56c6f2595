// A compiler as a part of keys: the program, the programs and files that it uses, its settings
// under the plan's flags, and the environment in which it is started.
//
// One run (one plan) owns a toolchain; once identified it never changes, so any thread may read it.
#pragma once

#include "actors/ports/programs.hpp"
#include "messages/digest.hpp"
#include "messages/error.hpp"
#include "messages/key_field.hpp"
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

/// A plan's description of its compiler.
struct toolchain_request {
  std::string compiler;  ///< as written: a name to find in PATH, or a path relative to `directory`
  std::string directory; ///< the plan's folder, absolute; every compiler run happens in it
  std::vector<std::string> flags;             ///< each one argument, passed exactly
  std::vector<std::string> variables;         ///< the host's environment, "NAME=value"
  std::chrono::milliseconds deadline{60'000}; ///< limit of one query
};

/// A file that the compiler is made of or that its flags name.
struct toolchain_file {
  std::string role; ///< "driver", "cc1plus", "library crti.o", "flag -fplugin=x.so", ...
  std::string path; ///< its path
  digest content;
};

struct toolchain {
  std::string compiler;  ///< absolute path with which it is started
  std::string directory; ///< working directory of every run
  std::vector<std::string> flags;
  std::vector<std::string> environment; ///< that of every run, sorted: `compiler_environment`
  std::string version;                  ///< the first line of `--version`
  std::string target;                   ///< "x86_64-linux-gnu"
  std::vector<toolchain_file> files;    ///< sorted by role
  /// Clang: the files below its resource folder, absolute. One of `files` is all of them.
  std::vector<std::string> resource_files;
  /// Every folder in which an include may be found, as the compiler spells it, missing ones too.
  std::vector<std::string> include_directories;
  /// Whether `compiler` is the compiler proper. A wrapper is asked again in each run, since the
  /// files that its answers depend on are unknown.
  bool direct = false;
  /// Whether the compiler prints its search path as GCC and Clang do. If not, each run scans its
  /// includes anew.
  bool understood = false;
  /// The toolchain's part of a key: SHA-256 of its path, files, settings and version. The flags'
  /// text and the environment are fields of their own (`flags`, `keyed_variables`).
  digest identity;

  /// What the identity is made of, for people: path, version, target, and the hash of each file by
  /// its role (16 hexadecimal digits).
  key_field details() const;

  /// The request that starts the compiler: its flags, then `arguments`, in its folder and
  /// environment.
  process_request run(std::vector<std::string> arguments, std::chrono::milliseconds deadline) const;
  /// The same for a question that produces no program: without the flag `-shared`, warnings off.
  process_request query(std::vector<std::string> arguments,
                        std::chrono::milliseconds deadline) const;
};

/// Checks that a plan can use these flags. It refuses those that name outputs or change what a run
/// of the compiler makes (-o, -c, -E, -M..., -save-temps), and those whose inputs no key can hold
/// (C++ modules, -wrapper). Errors: `invalid_argument`, `unsupported`.
expected<void> check_flags(std::span<const std::string> flags);

/// The environment in which compilers run, from the host's. Kept: PATH and TMPDIR, which no key
/// holds (what PATH selects is in the toolchain's identity), and the variables that choose headers,
/// libraries and programs, which every key holds: CPATH, C_INCLUDE_PATH, CPLUS_INCLUDE_PATH,
/// OBJC_INCLUDE_PATH, LIBRARY_PATH, COMPILER_PATH, GCC_EXEC_PREFIX, and SOURCE_DATE_EPOCH. Set:
/// LC_ALL=C; SOURCE_DATE_EPOCH=0 unless the host has one, so that __DATE__ and __TIME__ cannot make
/// two programs of one key. All others are removed, so that none can change a program, among them
/// DEPENDENCIES_OUTPUT and SUNPRO_DEPENDENCIES (which write files), LD_RUN_PATH,
/// CCC_OVERRIDE_OPTIONS and LD_LIBRARY_PATH. Sorted, each name once.
std::vector<std::string> compiler_environment(std::span<const std::string> variables);

/// Those of `environment` that a key holds, in the same order, as a key holds them: search paths
/// without repeated entries (`normal_search_path`).
std::vector<std::string> keyed_variables(std::span<const std::string> environment);

/// The tools of a compiler that are searched for in PATH where its own folders lack them.
std::vector<std::string> searched_tools();

/// The environment of this process. No other thread may change it during the call.
std::vector<std::string> host_variables();

/// Finds and identifies the compiler. `memo` keeps its answers, which are used again without
/// starting it while every file that they depend on keeps its stamp. Errors: `not_found` (no such
/// compiler), `invalid_argument` and `unsupported` (`check_flags`), what `runner` and reading files
/// report, `cancelled`. A compiler that does not answer a question is no error.
expected<toolchain> identify(const toolchain_request& request, file_view& files,
                             actors::process_runner& runner, fact_memo& memo, std::stop_token stop);

} // namespace hearth::fingerprints
