// Why a compiler's command line is not cached. Plain values, for any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::launcher {

/// The reasons, each counted by itself in the statistics. The numbers are stable; new ones are
/// added at the end.
enum class uncached : std::uint8_t {
  none,                    ///< it can be cached
  links,                   ///< the command links
  preprocesses,            ///< the compiler stops after preprocessing, or only lists dependencies
  no_source,               ///< no source file is named
  several_sources,         ///< more than one
  source_is_stdin,         ///< the source is `-`
  unknown_input,           ///< an input that is no source file: a library, or an unknown suffix
  other_language,          ///< neither C, C++, Objective-C nor assembler
  several_architectures,   ///< -arch twice, or options for one architecture only
  offloads,                ///< code for an accelerator: its compiler writes files of its own
  saves_temporaries,       ///< -save-temps
  traces_time,             ///< -ftime-trace, -time
  modules,                 ///< modules and header units, which write files shared by compilations
  precompiled_header,      ///< makes one, or names one
  output_to_stdout,        ///< an output is `-`
  output_to_device,        ///< an output is below /dev
  further_output,          ///< an option writes a file whose name is not known beforehand
  unclear_output,          ///< two outputs share a name, or an output overwrites the source
  asks_compiler,           ///< asks about the compiler: --version, -print-*, -###, -v
  unsupported_option,      ///< an option that changes what the others mean
  incomplete_command_line, ///< the last option lacks its argument, or an option is given twice
  bad_response_file,       ///< an @file is missing, too large, or read differently by compilers
  environment,             ///< an environment variable makes the compiler write further files
  output_elsewhere,        ///< outputs' names are in their bytes, and one is not below the folder
};

/// The reason in words for statistics ("links", "several source files").
std::string_view reason_text(uncached why) noexcept;

/// A command line that is not cached.
struct refusal {
  uncached why = uncached::none;
  std::string argument; ///< the option that is the reason; empty if it is not a single one
};

/// Whether this variable, when set, makes gcc or clang write further files, or changes their
/// command line: the compilation is not cached (`uncached::environment`). `name` is the part before
/// `=`.
bool is_unsupported_variable(std::string_view name) noexcept;

} // namespace hearth::launcher
