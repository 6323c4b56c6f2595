// Response files: `@file` on a command line stands for the arguments in the file. Pure functions
// but for the caller's `file_reader`; any thread.
//
// gcc (libiberty) and clang (LLVM) separate arguments by white space, and know quotes and
// backslashes. They differ in rare cases, and so do their versions: a backslash inside single
// quotes, before the end of a line, or before most characters inside double quotes; an empty
// argument; a null byte; a byte order mark. Such a file is refused, not guessed at.
#pragma once

#include "runtime/launcher/uncached.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace hearth::launcher {

/// The content of a file, relative to the compiler's working directory; nothing if it cannot be
/// read.
using file_reader = std::function<std::optional<std::string>(const std::string& path)>;

/// Limits of all response files of one command line together: what fits into a command line, as the
/// compiler is run with the expanded arguments.
constexpr std::size_t max_response_bytes = std::size_t{1} << 20;
constexpr std::size_t max_argument_bytes = std::size_t{1} << 16;
constexpr int max_response_depth = 8;

/// The arguments in a response file's text; nothing where compilers differ about them.
std::optional<std::vector<std::string>> split_response(std::string_view text);

/// `arguments` with each `@file` replaced by the file's arguments, those inside files included.
/// Errors: `bad_response_file`, with the argument.
tl::expected<std::vector<std::string>, refusal>
expand_response_files(std::vector<std::string> arguments, const file_reader& read);

} // namespace hearth::launcher
