// Finds `hearth-worker`, the program through which Hearth starts other programs. Any thread.
#pragma once

#include "messages/error.hpp"

#include <string>

namespace hearth::process {

/// The path of hearth-worker: `configured` when it is not empty, else $HEARTH_WORKER, else the
/// first that exists: beside this program, in ../libexec/hearth/ from it, where Hearth was
/// installed, where Hearth was built. Errors: `not_found`, with the places searched; a configured
/// path without a program is an error, and the search does not go on.
expected<std::string> find_worker(const std::string& configured = {});

} // namespace hearth::process
