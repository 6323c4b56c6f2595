// Hearth's programs beside `hearth`: what few users need is built, linked and loaded only for them.
#pragma once

#include "runtime/cli/io/output.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace hearth::cli {

/// Replaces this process with the program `name`, which stands beside this one or in
/// ../libexec/hearth/ from it. Returns only when it cannot: reports why; when there is no such
/// program, that `target` must be built, and `trouble`.
status become_program(const std::string& name, std::vector<std::string> arguments,
                      std::string_view target);

} // namespace hearth::cli
