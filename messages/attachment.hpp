// Files that belong to an entry: what a compile left in a folder, kept with the entry and put back
// on a hit. Plain values and pure functions, any thread.
//
// Where a file names the folder that it lies in, the name is cut out and its places are kept, so
// that on another machine the folder's name there stands in them. Nothing in the bytes marks a
// place: a file may hold any text.
#pragma once

#include "messages/artifact.hpp"
#include "messages/digest.hpp"
#include "messages/error.hpp"
#include "messages/key.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// Most bytes of one attachment, encoded.
inline constexpr std::uint64_t max_attachment_bytes = std::uint64_t{1} << 30;

struct attached_file {
  std::string path; ///< inside its folder, with `/` between folders
  std::string bytes;
  bool is_program = false;
  std::vector<std::uint64_t> places; ///< in `bytes`, ascending: here the folder's name was cut out

  friend bool operator==(const attached_file&, const attached_file&) = default;
};

/// The files of one folder: put back together, or not at all.
struct attachment {
  std::string folder; ///< below where the host has such folders, with `/` between folders
  std::vector<attached_file> files;

  friend bool operator==(const attachment&, const attachment&) = default;
};

/// Whether a path stays below where it is put: relative, no empty part, no `.` and no `..`.
bool is_inner_path(std::string_view path) noexcept;

/// Cuts `folder` (absolute) out of a file's bytes wherever it stands as a whole path or the
/// beginning of one: not where another name goes on from it.
void cut_folder(attached_file& file, std::string_view folder);
/// The bytes as they are in `folder`.
std::string bytes_in(const attached_file& file, std::string_view folder);

/// As it is kept, files in the order of their paths: equal files have equal bytes, whatever their
/// folder is called. Errors: `invalid_argument`, a path that leads elsewhere or comes twice;
/// `too_large`.
expected<artifact> encode_attachment(const attachment& files);
/// Errors: `malformed`.
expected<attachment> decode_attachment(std::string folder, const artifact& kept);

/// The key, in an entry's cache, of what `encode_attachment` made: by content, so that entries
/// share what is the same.
key attachment_key(const digest& content);

} // namespace hearth
