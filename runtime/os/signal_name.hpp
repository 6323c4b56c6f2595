// The name of a signal, as people write it. Pure, any thread.
#pragma once

#include <string>

namespace hearth::os {

/// "SIGSEGV"; "signal 35" when it has no name.
std::string signal_name(int number);

} // namespace hearth::os
