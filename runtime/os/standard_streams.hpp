// The descriptors 0, 1 and 2, which a program may be started without, as by a daemon.
#pragma once

namespace hearth::os {

/// Opens those of the descriptors 0, 1 and 2 that are closed on /dev/null. Otherwise the next file
/// that the process opens gets the number, and what is printed is written into that file. The first
/// call of a program, before it has threads.
void open_missing_standard_streams() noexcept;

} // namespace hearth::os
