// Several remote tiers that differ by their URLs alone: as one text, for a variable or a C string.
// Any thread.
#pragma once

#include "messages/visibility.hpp"
#include "runtime/api/config.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace HEARTH_PUBLIC hearth {

/// The URLs in a text, which has blanks between them, nearest first.
std::vector<std::string> remote_urls(std::string_view text);

/// The tiers of these URLs, nearest first, each with the other settings of `common`. Without a URL:
/// no remote tier.
remote_config remotes_at(const std::vector<std::string>& urls, const remote_config& common);

} // namespace hearth
