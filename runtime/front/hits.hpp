// What `hearth` answers by itself: stored entries and results, read from the mapped store. All else
// is for the program with the runtime.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hearth::front {

/// Carries the command line out, if it can be answered so: prints what it asks for, and returns the
/// exit status. Nothing: the command is another one, has an option that is not understood here, is
/// a miss, or failed; another program has to carry it out from its start.
std::optional<int> answer(const std::vector<std::string>& words);

} // namespace hearth::front
