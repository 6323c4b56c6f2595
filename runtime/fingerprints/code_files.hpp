// Content-addressed files: code and binaries named by their hash, as Inductor names them. Writes
// are atomic: no reader sees a partial file. Any thread, any number of processes.
#pragma once

#include "messages/error.hpp"
#include "messages/visibility.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace hearth {
namespace HEARTH_PUBLIC fingerprints {

/// "c" and 51 characters of base32 of the code's SHA-256; with `extra`, "ce" and 51 characters for
/// the SHA-256 of both, each after its length (8 bytes, big endian), which makes it unambiguous.
std::string code_hash(std::string_view code, std::string_view extra = {});

/// The name of content by its type: "code", "ptx" and "amdgcn" (texts) by `code_hash`; "cubin",
/// "hsaco" and "spv" by their bytes, without `extra`. Errors: `invalid_argument`, an unknown type.
expected<std::string> content_hash(std::string_view content, std::string_view type,
                                   std::string_view extra = {});

/// `<base>/<key[1:3]>/<key>.<extension>`, or `<folder>/<key>.<extension>` with a `folder`, which is
/// absolute or inside of `base`. Errors: `invalid_argument`: a key of less than three characters,
/// or a name that would lead elsewhere ('/', "..").
expected<std::filesystem::path> code_path(const std::filesystem::path& base, std::string_view key,
                                          std::string_view extension,
                                          const std::filesystem::path& folder = {});

/// A file that `write_code` wrote or found.
struct written_code {
  std::string key;
  std::filesystem::path path;
  bool was_there = false;
};

/// Writes content to the path of its hash, which ignores blanks around a text. An existing file is
/// not rewritten. Errors: as above, and those of writing; no partial file remains.
expected<written_code> write_code(const std::filesystem::path& base, std::string_view content,
                                  std::string_view extension, std::string_view type = "code",
                                  std::string_view extra = {},
                                  const std::filesystem::path& folder = {});

/// Creates or replaces a file, and creates the folders above it: writes a temporary file beside it,
/// unique across processes, and renames it. Errors: those of writing; no partial file remains.
expected<void> write_atomic(const std::filesystem::path& path, std::string_view content);

} // namespace fingerprints
} // namespace hearth
