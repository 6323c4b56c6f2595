// Scripts of bash in tests, for clients and tools as people call them.
#pragma once

#include "tests/support/hearth_program.hpp"

#include <string>

namespace hearth::test {

/// Runs a script that stops at the first failure, at most four minutes.
program_result run_script(const std::string& script);

/// What the script prints; it has to succeed.
std::string output_of(const std::string& script);

} // namespace hearth::test
