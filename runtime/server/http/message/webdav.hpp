// The little of WebDAV (RFC 4918) that sccache needs: every path that ends with `/` is a folder,
// and an entry is a file. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::server {

/// The answer to PROPFIND of depth 0: the properties of a folder, or of a file of `file_bytes`.
std::string properties_page(std::string_view path, std::optional<std::uint64_t> file_bytes);

} // namespace hearth::server
