// The end of a program's output, for an error of one line. Pure, any thread.
#pragma once

#include <string>
#include <string_view>

namespace hearth::process {

/// The last line of `output` that is not blank, at most 200 bytes of it, without control
/// characters.
std::string last_line(std::string_view output);

} // namespace hearth::process
