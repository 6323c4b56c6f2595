// What the options of a compiler's command line say, one by one, before it is known whether they
// fit together. Internal to the launcher; pure functions, any thread.
#pragma once

#include "runtime/launcher/compile_command.hpp"
#include "runtime/launcher/source_language.hpp"

namespace hearth::launcher {

struct command_input {
  std::string path;
  source_language language;
};

struct command_facts {
  bool compiles = false;  ///< -c
  bool assembles = false; ///< -S
  bool checks_syntax = false;
  bool preprocesses = false;
  std::vector<command_input> inputs;
  std::optional<std::string> output;
  std::optional<std::string> dependency_file;
  std::optional<std::string> notes; ///< -fprofile-note=
  std::optional<std::string> diagnostics;
  bool lists_dependencies = false;
  bool passes_dependencies = false; ///< by -Wp,-MD
  bool names_target = false;
  bool splits_debug = false;
  bool covers = false;      ///< --coverage
  bool takes_notes = false; ///< -ftest-coverage
  bool writes_stack_usage = false;
  bool writes_llvm = false;
  bool is_clang = false; ///< by the compiler's name; set by the caller of `read_facts`
  bool depends_on_names = false;
  bool runs_others = false; ///< plug-ins, specs
  bool annotates_assembly = false;
  std::optional<bool> colour;
  std::vector<output_argument> output_arguments;
  refusal refused; ///< the first option that is not cached
};

/// Reads `words`, which are the arguments after the compiler, without response files.
command_facts read_facts(const std::vector<std::string>& words, bool is_cxx);

} // namespace hearth::launcher
