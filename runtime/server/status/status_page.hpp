// The page at `/` of the HTTP listener. A constant, any thread.
#pragma once

#include <string_view>

namespace hearth::server {

/// The whole page: HTML with its style and script, which asks for `/status.json` and loads nothing
/// else.
std::string_view status_page_html();

} // namespace hearth::server
