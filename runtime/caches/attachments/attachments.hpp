// Attachments on disk: collected from the folders that a compile filled, and put back elsewhere.
// Any thread, any number of processes.
#pragma once

#include "messages/attachment.hpp"
#include "messages/error.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

struct collect_options {
  /// Files whose names end so may name their folder; in others nothing is cut out.
  std::vector<std::string> texts{".json"};
};

/// The files of `<base>/<folder>` and the folders below it. Errors: `invalid_argument`, a folder
/// that leads elsewhere, or a file that is none (a link, a device); `too_large`; those of reading.
expected<attachment> collect_folder(const std::filesystem::path& base, const std::string& folder,
                                    const collect_options& options = {});

enum class put_back_outcome : std::uint8_t {
  put,       ///< there was none
  identical, ///< there already, byte for byte: left alone
  replaced,  ///< there was another
};
std::string_view to_string(put_back_outcome outcome) noexcept;

/// Puts the files back as `<base>/<folder>`: into a temporary folder, which is then renamed, so
/// that nobody sees a part of them. Of several that do so at once each ends with the whole folder
/// in its place. Errors: `invalid_argument`, a folder that leads elsewhere; those of writing, and
/// then what was there stays and nothing else.
expected<put_back_outcome> put_back(const attachment& files, const std::filesystem::path& base);

} // namespace hearth
