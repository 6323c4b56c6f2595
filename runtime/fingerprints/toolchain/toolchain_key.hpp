// The key of everything that makes programs: a version, compilers, the source trees and files that
// a toolchain is built from. One value per process, computed on first use.
//
// Any thread.
#pragma once

#include "messages/digest.hpp"
#include "messages/key_field.hpp"
#include "messages/visibility.hpp"

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace hearth {
namespace HEARTH_PUBLIC fingerprints {

/// A tree of sources that is part of a toolchain.
struct source_tree {
  std::string name; ///< its name in the key, independent of its folder
  std::filesystem::path folder;
  std::vector<std::string> suffixes; ///< suffixes of the files that count; none: all
};

/// The parts of a toolchain.
struct toolchain_parts {
  std::string version;
  std::vector<std::string> compilers; ///< names in PATH, or paths: by content, links followed
  /// Compilers by the programs that do their work, by name: those of `identify_compiler`.
  std::map<std::string, digest> identities{};
  std::vector<std::string> flags;
  std::vector<source_tree> trees;
  std::vector<std::filesystem::path> files; ///< by file name and content
};

/// The details of such a toolchain. Errors: `not_found` (a compiler, a file), `invalid_argument`
/// (two trees, files or compilers of one name), the errors of reading.
expected<key_field> toolchain_details(const toolchain_parts& parts);

/// Keeps the digest of a toolchain once it is computed.
class toolchain_key {
public:
  explicit toolchain_key(toolchain_parts parts)
      : parts_(std::move(parts)) {}

  /// SHA-256 of the encoded `toolchain_details`; the first caller computes it, others wait for it.
  /// An error is not kept.
  expected<digest> get();
  /// Sets the value that `get` returns from now on, for hosts that know it already, such as
  /// workers.
  void set(digest known);
  /// Forgets the digest: the next `get` checks every file again, and reads those that changed.
  void clear();

private:
  toolchain_parts parts_;
  std::mutex guard_;
  std::optional<digest> known_;
};

} // namespace fingerprints
} // namespace hearth
