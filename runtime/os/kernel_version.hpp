// The version of the running Linux. Any thread.
#pragma once

namespace hearth::os {

/// Whether it is this version or a later one.
bool is_linux_since(int major, int minor);

} // namespace hearth::os
