// Packages made ahead of time: objects, weights and metadata in one bundle, so that a program runs
// on a machine that compiles nothing.
//
// Any thread; not from an actor. A package is a bundle of entries of the cache `packages`: it can
// be imported like any other bundle, and is then found by its name.
#pragma once

#include "messages/artifact.hpp"
#include "messages/error.hpp"
#include "messages/value.hpp"
#include "messages/visibility.hpp"
#include "storage/signing/signing.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace HEARTH_PUBLIC hearth {

class runtime;

enum class member_kind : std::uint8_t { object, weights, file };
/// "object", "weights", "file".
std::string_view to_string(member_kind kind) noexcept;

struct package_member {
  member_kind kind = member_kind::file;
  std::string name; ///< path of its file, with `/` between folders
  artifact content;
};

struct package {
  std::string name;
  value::map metadata; ///< metadata of the host
  std::vector<package_member> members;
};

/// Writes the package as a bundle; an existing file is replaced when all is written. Errors:
/// `invalid_argument` for a member without content, or whose name leads out of the folder or occurs
/// twice; those of writing.
expected<void> write_package(const package& from, const std::string& file,
                             const storage::signing_keys& sign = {});
/// The package in a bundle, which is verified first. Errors: as `import_bundle`; `malformed` also
/// for a bundle that is no package, or that lacks a member.
expected<package> read_package(const std::string& file,
                               const storage::signing_keys& signed_by = {});
/// The imported package of that name; empty when there is none, or a part is missing.
expected<std::optional<package>> find_package(runtime& in, const std::string& name);

/// Writes all members below `<base>/<name>`, in one step: no process sees a part of them. An
/// identical folder is left alone, a different one is replaced. Returns the folder.
expected<std::filesystem::path> materialize_package(const package& from,
                                                    const std::filesystem::path& base);

} // namespace hearth
