// Where `hearth-worker` is, the program through which Hearth starts others. Any thread.
#pragma once

#include "messages/error.hpp"

#include <string>

namespace hearth::process {

/// The path of hearth-worker: `configured` when it is not empty, else $HEARTH_WORKER, else the
/// first there is of: beside this program, ../libexec/hearth/ from it, where Hearth was installed,
/// where Hearth was built. Errors: `not_found`, saying where it was looked for; a path that
/// somebody gave and that is not there is an error, not a reason to look elsewhere.
expected<std::string> find_worker(const std::string& configured = {});

} // namespace hearth::process
