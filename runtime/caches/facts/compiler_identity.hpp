// The identity of a compiler, for keys that a host builds: the same that plans and actions have in
// theirs. Any thread.
#pragma once

#include "messages/digest.hpp"
#include "messages/error.hpp"
#include "messages/key_field.hpp"
#include "messages/visibility.hpp"
#include "runtime/handle/runtime.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace HEARTH_PUBLIC hearth {

/// A compiler that was asked about itself.
struct compiler_identity {
  std::string path;    ///< absolute
  std::string version; ///< the first line of `--version`
  std::string target;  ///< "x86_64-linux-gnu"
  /// SHA-256 of its path, version, settings, and of the content of the programs and files that do
  /// the work: the driver, cc1plus, as, collect2, ld, the libraries that are linked by default,
  /// what the flags name.
  digest identity;
  key_field details; ///< the same for people, and for `explain`: path, version, target, files
};

/// Asks a compiler of GCC or Clang, by name in PATH or by path, as it works in `folder` with these
/// flags. What it answers is kept in the store, and used again without starting it while its files
/// keep their stamps. Errors: `program_not_found`; `invalid_argument` and `unsupported` (flags that
/// change what a run makes, a program that does not answer like GCC or Clang); `closed`; those of
/// running programs and of reading files.
expected<compiler_identity> identify_compiler(runtime& in, const std::string& compiler,
                                              const std::vector<std::string>& flags = {},
                                              const std::filesystem::path& folder = "/");

} // namespace hearth
