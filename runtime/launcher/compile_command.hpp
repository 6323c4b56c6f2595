// One compilation by gcc or clang, read from its command line: whether it may be cached, and which
// files it writes. The cache watches which files the compiler reads, so options that choose those
// stay as they are and are not understood here. Pure functions but for the caller's `file_reader`;
// any thread.
#pragma once

#include "runtime/launcher/response_file.hpp"
#include "runtime/launcher/uncached.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace hearth::launcher {

/// A file that the compiler writes when it succeeds.
struct output {
  enum class kind : std::uint8_t {
    object,         ///< machine code, or the compiler's intermediate code (-flto, -emit-llvm)
    assembly,       ///< -S
    dependencies,   ///< make rules (-MD)
    split_debug,    ///< .dwo
    coverage_notes, ///< .gcno
    stack_usage,    ///< .su
    diagnostics,    ///< clang's --serialize-diagnostics
    precompiled,    ///< .gch of gcc; -o names it
  };
  kind what = kind::object;
  std::string path; ///< as the command line names it, or relative to the working directory
  /// Whether each successful run writes it. If not, a file of that name may be an older one: remove
  /// it before the run, or see that the run writes it.
  bool is_required = true;
};

/// Arguments that name an output: `count` words from `first` in `compile_command::arguments`. Those
/// of -o are an `object`'s, with -S too.
struct output_argument {
  output::kind what = output::kind::object;
  std::size_t first = 0;
  std::size_t count = 1;
};

/// A compilation that may be cached.
struct compile_command {
  std::string compiler; ///< the command line's first word
  /// The words after it, each response file replaced by its content: outputs can be named there,
  /// and a file that changes after it was read cannot change the command. Run the compiler with
  /// these.
  std::vector<std::string> arguments;
  std::string source;          ///< as the command line names it
  std::string_view language;   ///< by the name that `-x` takes; static text
  std::vector<output> outputs; ///< empty with -fsyntax-only, unless dependencies are asked for
  bool asks_for_dependencies = false; ///< whether a dependency file is among the outputs
  /// Whether diagnostics are coloured, where an option says so; by default the compiler looks
  /// whether standard error is a terminal.
  std::optional<bool> colour;
  /// Whether the outputs' names are, or may be, in their bytes, or choose what is read (coverage,
  /// profiles, split debug information, recorded command lines, plug-ins): the command runs with
  /// its own output names, which are part of the key.
  bool must_run_in_place = false;
  /// Whether an option makes others part of the compiler (plug-ins, specs), who may write anything.
  bool runs_others = false;
  /// The first target of the dependency file if the compiler derives it from the output's name;
  /// empty if there is no such file, or -MT or -MQ names the targets.
  std::string default_target;
  std::vector<output_argument> output_arguments; ///< in the order of the arguments
};

/// Reads a command line, compiler first. Errors: the first reason not to cache it. A command line
/// that the compiler itself would refuse may be accepted. The caller looks at what is no text: the
/// environment (`is_unsupported_variable`), and whether an output is a link, a device or the
/// source.
tl::expected<compile_command, refusal> read_compile_command(std::vector<std::string> words,
                                                            const file_reader& read);

/// A command that writes the same bytes to other files.
struct redirected_command {
  std::vector<std::string> arguments; ///< as `compile_command::arguments`
  std::vector<std::string> paths;     ///< where each of `compile_command::outputs` is written
};

/// The command with its outputs below `folder`, an empty directory that exists; with its own output
/// names if it `must_run_in_place`. Redirected, it succeeds even where the command itself fails: an
/// output's directory does not exist.
redirected_command redirected(const compile_command& command, std::string_view folder);

/// The arguments that the key contains: all but the names of outputs that have no influence on any
/// output's bytes.
std::vector<std::string> key_arguments(const compile_command& command);

} // namespace hearth::launcher
