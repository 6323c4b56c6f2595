// Files that belong to an entry: a compile wrote them to a folder; they are kept with the entry and
// restored on a hit. Plain values and pure functions, any thread.
//
// If a file contains the path of its own folder, the path is cut out and its places are kept, so
// that another machine inserts its own folder's path. The bytes have no mark at a place, because a
// file may contain any text.
#pragma once

#include "messages/artifact.hpp"
#include "messages/digest.hpp"
#include "messages/error.hpp"
#include "messages/key.hpp"
#include "messages/visibility.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace HEARTH_PUBLIC hearth {

/// The maximum size of an encoded attachment, in bytes.
inline constexpr std::uint64_t max_attachment_bytes = std::uint64_t{1} << 30;

struct attached_file {
  std::string path; ///< path in the attachment's folder, with `/` between names
  std::string bytes;
  bool is_program = false;
  std::vector<std::uint64_t> places; ///< offsets in `bytes`, ascending, of the cut paths

  friend bool operator==(const attached_file&, const attached_file&) = default;
};

/// The files of one folder; all of them are restored, or none.
struct attachment {
  std::string folder; ///< path below the host's folder for attachments, with `/` between names
  std::vector<attached_file> files;

  friend bool operator==(const attachment&, const attachment&) = default;
};

/// Whether a path stays inside its folder: it is relative and has no empty part, `.` or `..`.
bool is_inner_path(std::string_view path) noexcept;

/// Cuts `folder` (absolute) out of a file's bytes wherever it is a whole path or the beginning of
/// one; `folder` followed by more characters of a name stays.
void cut_folder(attached_file& file, std::string_view folder);
/// The file's bytes with `folder` at each place.
std::string bytes_in(const attached_file& file, std::string_view folder);

/// The stored form, files in the order of their paths: equal files have equal bytes, whatever their
/// folder's name is. Errors: `invalid_argument` if a path leaves the folder or occurs twice;
/// `too_large`.
expected<artifact> encode_attachment(const attachment& files);
/// Errors: `malformed`.
expected<attachment> decode_attachment(std::string folder, const artifact& kept);

/// The key, in the entry's cache, of an encoded attachment. It depends on the content only, so
/// entries share equal attachments.
key attachment_key(const digest& content);

} // namespace hearth
