// The options of gcc and clang that decide what a command writes, and those whose argument is the
// next word. Every other option stays as it is: it enters the key and is not understood. Pure
// functions over a constant table, any thread.
#pragma once

#include "runtime/launcher/uncached.hpp"

#include <cstdint>
#include <string_view>

namespace hearth::launcher {

enum class option_form : std::uint8_t {
  flag,               ///< the word is the option
  joined,             ///< the rest of the word is its value
  separate,           ///< the next word is its value
  joined_or_separate, ///< the rest of the word, or the next word if there is no rest
};

enum class option_effect : std::uint8_t {
  none,                 ///< known for its separate argument alone
  refused,              ///< not cached, for the row's reason
  refused_if_equals,    ///< not cached if the value contains `=`, which a file name follows
  refused_if_file,      ///< not cached if the value ends with "-file"
  compile,              ///< -c
  assemble,             ///< -S
  preprocess,           ///< -E, -M, -MM
  check_syntax,         ///< -fsyntax-only
  name_output,          ///< -o
  choose_language,      ///< -x
  list_dependencies,    ///< -MD, -MMD
  name_dependencies,    ///< -MF
  name_target,          ///< -MT, -MQ
  pass_to_preprocessor, ///< -Wp,a,b
  pass_to_assembler,    ///< -Wa,a,b and -Xassembler a
  pass_to_clang,        ///< -Xclang a
  pass_to_llvm,         ///< -mllvm a
  choose_architecture,  ///< -arch
  choose_driver,        ///< --driver-mode=
  split_debug,          ///< -gsplit-dwarf
  keep_debug,           ///< -gno-split-dwarf
  write_notes,          ///< --coverage
  write_notes_by_flag,  ///< -ftest-coverage, which -fno-test-coverage cancels
  keep_notes,           ///< -fno-test-coverage
  name_notes,           ///< -fprofile-note=
  write_stack_usage,    ///< -fstack-usage
  name_diagnostics,     ///< --serialize-diagnostics
  write_llvm,           ///< -emit-llvm
  depend_on_names,      ///< the output's bytes contain, or come from, the outputs' names
  run_others,           ///< others are part of the compiler: plug-ins, specs
  annotate_assembly,    ///< -fverbose-asm: assembly may contain the outputs' names
  colour,               ///< diagnostics are coloured
  no_colour,            ///< they are not
  colour_by_terminal,   ///< they are if they go to a terminal
};

struct option_row {
  std::string_view name;
  option_form form;
  option_effect effect = option_effect::none;
  uncached reason = uncached::none; ///< of those that refuse
};

/// The row of the longest name that `word` begins with and whose form the word fits; null if there
/// is none: an option without a separate argument and without influence on what is written.
const option_row* find_option(std::string_view word) noexcept;

} // namespace hearth::launcher
