// What a path names, in the words of error texts. Any thread.
#pragma once

#include <string_view>
#include <sys/types.h>

namespace hearth {

/// What a file of this mode is: "a FIFO", "a socket", "a directory", "a character device", ...
std::string_view name_of_kind(mode_t mode) noexcept;

} // namespace hearth
