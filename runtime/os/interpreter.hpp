// The programs that the kernel starts to run another one. Reads files; any thread.
#pragma once

#include <string>

namespace hearth::os {

/// The program that the kernel starts to run this one: that of "#!", which may be relative to the
/// working folder, or the loader of a binary. Empty: there is none, or it cannot be read.
std::string interpreter_of(const std::string& program);

} // namespace hearth::os
