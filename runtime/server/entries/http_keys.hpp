// The keys of HTTP's entries (runtime/server/http). Pure functions, any thread.
#pragma once

#include <string_view>

namespace hearth::server {

/// Whether an entry of this key is one of HTTP: the server has checked its bytes (a blob's
/// SHA-256), so no other protocol stores it.
bool is_http_key(std::string_view key) noexcept;

} // namespace hearth::server
