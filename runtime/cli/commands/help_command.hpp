// `hearth help`: a summary, a command's options, or a topic.
#pragma once

#include "runtime/cli/io/output.hpp"

#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace hearth::cli {

/// Prints the summary, or the help of the command or topic that `words` name ("autotune list").
/// `app` declares the commands. Bad input: there is neither.
status help(const CLI::App& app, const std::vector<std::string>& words);

} // namespace hearth::cli
