// Why something was not found, for people. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hearth::cli {

/// The lines of `key_miss`, or what has changed, below what they are about.
std::string miss_text(std::string_view what, const std::vector<std::string>& lines);

} // namespace hearth::cli
