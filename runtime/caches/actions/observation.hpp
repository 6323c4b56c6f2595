// Inputs that an action discovered: the files that its dependency file names besides the declared
// ones, each by content. Reads files; any thread.
#pragma once

#include "runtime/caches/actions/action.hpp"
#include "runtime/fingerprints/observation.hpp"

#include <string>
#include <string_view>

namespace hearth {

/// Encodes the inputs that an action discovered, from the text of its dependency file. Errors:
/// `malformed`; `busy` when a file may have been another at the start; those of reading files.
expected<std::string> observe(const action& asked, std::string_view dependencies,
                              const fingerprints::start_of_run& start);

/// Whether all files of an observation still have the recorded content.
bool holds(const std::string& observation, const action& asked);

} // namespace hearth
