// What is wrong with a command line, for the programs that parse one.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
} // namespace CLI

namespace hearth::cli {

/// One line about a command line that the parser refused: for an unknown command or option, what
/// may have been meant; otherwise what the parser says, and the help to look at.
std::string usage_problem(const CLI::App& app, const CLI::ParseError& problem);

} // namespace hearth::cli
