// The page at `/` of the HTTP listener. Any thread.
#pragma once

#include <string_view>

namespace hearth::server {

/// An HTML page in UTF-8 (`page/status.html`) that asks for `status.json` beside it every 2 s and
/// for nothing else. Lives as long as the program.
std::string_view status_page_html() noexcept;

} // namespace hearth::server
