// Inputs that an action discovered: the files that its dependency file names beside the declared
// ones, each by content. Reads files; any thread.
#pragma once

#include "runtime/caches/actions/action.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth {

/// What an action read, by the text of its dependency file, as bytes. Errors: `malformed`; `busy`
/// when a file changed after `start_ns` (since the epoch); what reading files reports.
expected<std::string> observe(const action& asked, std::string_view dependencies,
                              std::int64_t start_ns);

/// Whether all files of an observation have the content that they had.
bool holds(const std::string& observation, const action& asked);

} // namespace hearth
