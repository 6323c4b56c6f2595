// Describes the machine of a measurement.
#pragma once

#include <filesystem>
#include <string>

namespace hearth::bench {

/// Processor, cores, memory, kernel, and the file system of `directory`, in one line.
std::string describe_machine(const std::filesystem::path& directory);

} // namespace hearth::bench
