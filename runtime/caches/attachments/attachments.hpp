// Attachments on disk: collected from the folders that a compile filled, and put back elsewhere.
// Any thread, any number of processes.
#pragma once

#include "messages/attachment.hpp"
#include "messages/error.hpp"
#include "messages/visibility.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace HEARTH_PUBLIC hearth {

struct collect_options {
  /// Endings of files that may contain the path of their folder, which is cut out of them. Other
  /// files stay unchanged.
  std::vector<std::string> texts{".json"};
};

/// The files of `<base>/<folder>` and the folders below it. Errors: `invalid_argument` for a folder
/// outside `base` or an entry that is no regular file (a link, a device); `too_large`; those of
/// reading.
expected<attachment> collect_folder(const std::filesystem::path& base, const std::string& folder,
                                    const collect_options& options = {});

enum class put_back_outcome : std::uint8_t {
  put,       ///< there was no folder
  identical, ///< the folder has the same bytes: left alone
  replaced,  ///< there was a different folder
};
std::string_view to_string(put_back_outcome outcome) noexcept;

/// Writes the files to a temporary folder and renames it to `<base>/<folder>`, so that no process
/// sees a part of them. After concurrent calls the folder is a complete one. Errors:
/// `invalid_argument` for a folder outside `base`; those of writing, after which the old folder is
/// unchanged and no temporary one is left.
expected<put_back_outcome> put_back(const attachment& files, const std::filesystem::path& base);

} // namespace hearth
