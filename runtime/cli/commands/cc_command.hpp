// `hearth cc`: the compiler launcher, where its program cannot answer by itself.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/cli/io/output.hpp"

#include <string>
#include <vector>

namespace hearth::cli {

/// Runs the compile, or finds its stored result; returns its status. Whatever fails here, the
/// compiler runs as it would without Hearth. `--explain` before the compiler runs nothing: it says
/// whether the result would be found (0) or not (1), and why not.
int compile_cached(const config& settings, const std::vector<std::string>& words);

} // namespace hearth::cli
