// Hearth's programs: how each begins, and how `hearth` becomes another one. What few users need is
// a program of its own, built, linked and loaded only for them.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/cli/io/output.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::cli {

/// The body of `main`: calls `run` and returns its status. Standard streams that are closed are
/// opened on /dev/null first. Writing to a closed pipe, or past the size limit of files (`ulimit
/// -f`), is an error instead of the end of the program; an exception is reported.
int run_program(int (*run)(int count, char** arguments), int count, char** arguments);

/// When `run_program` was called, in nanoseconds since the epoch.
std::int64_t program_begin_ns();

/// Replaces this process with the program `name`, which stands beside this one or in
/// ../libexec/hearth/ from it. Returns only when it cannot: reports why; when there is no such
/// program, the places that were tried and the `target` to build, and `trouble`.
status become_program(const std::string& name, std::vector<std::string> arguments,
                      std::string_view target);

/// Why no program can be run: there is no hearth-worker. Names every place that was tried. Nothing
/// when there is one.
std::optional<error> missing_worker(const config& settings);

} // namespace hearth::cli
