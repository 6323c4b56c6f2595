#include "runtime/launcher/compile_command.hpp"

#include "runtime/launcher/command_facts.hpp"
#include "runtime/launcher/output_names.hpp"

#include <algorithm>
#include <utility>

namespace hearth::launcher {
namespace {

using kind = output::kind;

bool precompiles(const command_facts& facts) {
  return !facts.inputs.empty() && facts.inputs.front().language.is_header;
}

bool stops_before_linking(const command_facts& facts) {
  return facts.compiles || facts.assembles || facts.checks_syntax || precompiles(facts);
}

uncached reason_of_input(const command_facts& facts) {
  const auto& inputs = facts.inputs;
  if (inputs.empty()) return uncached::no_source;
  for (const auto& one : inputs) {
    if (one.path == "-") return uncached::source_is_stdin;
    if (one.language.why_not != uncached::none) return one.language.why_not;
  }
  return inputs.size() > 1 ? uncached::several_sources : uncached::none;
}

bool writes_notes(const command_facts& facts) {
  return (facts.covers || facts.takes_notes) && !facts.inputs.front().language.is_assembler;
}

bool writes_stack_usage(const command_facts& facts) {
  return facts.writes_stack_usage && !facts.inputs.front().language.is_assembler;
}

// How gcc calls further outputs of a precompiled header, and what -S makes of one, is not known
// here.
uncached reason_of_precompiling(const command_facts& facts) {
  if (facts.is_clang) return uncached::precompiled_header; // which has its folder's name in it
  const bool has_others = facts.assembles || facts.checks_syntax || facts.splits_debug ||
                          facts.covers || facts.takes_notes || facts.writes_stack_usage ||
                          facts.passes_dependencies || facts.depends_on_names || facts.writes_llvm;
  const bool has_names = facts.dependency_file && facts.names_target;
  return has_others || (facts.lists_dependencies && !has_names) ? uncached::precompiled_header
                                                                : uncached::none;
}

// Combinations of options for which compilers write, or name, different files.
uncached reason_of_combination(const command_facts& facts) {
  const auto& language = facts.inputs.front().language;
  const bool compiles_alone = facts.compiles && !facts.assembles && !facts.checks_syntax;
  if (language.is_assembler && !compiles_alone) return uncached::preprocesses;
  if (precompiles(facts)) return reason_of_precompiling(facts);
  if (facts.lists_dependencies && facts.passes_dependencies) return uncached::further_output;
  if (facts.assembles && facts.splits_debug) return uncached::further_output;
  const bool writes_others = writes_notes(facts) || writes_stack_usage(facts);
  if (facts.checks_syntax && writes_others) return uncached::further_output;
  // gcc then names the dependency file as if it linked ("a-x.d").
  if (facts.checks_syntax && !facts.compiles && facts.lists_dependencies && !facts.dependency_file)
    return uncached::further_output;
  // To gcc, -emit-llvm is -e with an argument; clang gives objects of assembler their usual name.
  const bool names_llvm = facts.is_clang && !language.is_assembler;
  if (facts.writes_llvm && !facts.output && !names_llvm) return uncached::unclear_output;
  if (!facts.output && is_unclear_stem(facts.inputs.front().path)) return uncached::unclear_output;
  const auto& stem = facts.output ? *facts.output : facts.inputs.front().path;
  if (is_unclear_stem(stem) && (writes_others || facts.splits_debug))
    return uncached::unclear_output;
  return uncached::none;
}

// The first reason: that it links says more than an option of a linking command.
refusal refusal_of(const command_facts& facts) {
  if (facts.preprocesses) return {uncached::preprocesses, {}};
  if (!stops_before_linking(facts) && !facts.inputs.empty()) return {uncached::links, {}};
  if (facts.refused.why != uncached::none) return facts.refused;
  if (const auto why = reason_of_input(facts); why != uncached::none) return {why, {}};
  return {reason_of_combination(facts), {}};
}

std::string_view suffix_of_main_output(const command_facts& facts) {
  if (facts.assembles) return facts.writes_llvm ? "ll" : "s";
  return facts.writes_llvm ? "bc" : "o";
}

// Names outputs after the main one: the name that -o gives, or the source's.
class output_namer {
public:
  explicit output_namer(const command_facts& facts)
      : facts_(facts) {}

  std::vector<output> all() {
    add_main_output();
    if (asks_for_dependencies()) add(kind::dependencies, facts_.dependency_file, "d", true);
    if (facts_.splits_debug && !facts_.checks_syntax)
      add(kind::split_debug, std::nullopt, "dwo", false);
    if (writes_notes(facts_)) add(kind::coverage_notes, facts_.notes, "gcno", false);
    if (writes_stack_usage(facts_)) add(kind::stack_usage, std::nullopt, "su", false);
    if (facts_.diagnostics) add(kind::diagnostics, facts_.diagnostics, "", true);
    return std::move(all_);
  }

  bool asks_for_dependencies() const {
    return (facts_.lists_dependencies || facts_.passes_dependencies) &&
           source().language.is_preprocessed;
  }

  // Both compilers take the output's name even if nothing is written to it.
  std::string default_target() const {
    if (!asks_for_dependencies() || facts_.names_target) return {};
    return facts_.output ? *facts_.output : default_output(source().path, "o");
  }

private:
  const command_input& source() const { return facts_.inputs.front(); }

  void add_main_output() {
    if (facts_.checks_syntax) return;
    if (precompiles(facts_))
      return all_.push_back(
          {kind::precompiled, facts_.output ? *facts_.output : source().path + ".gch", true});
    const auto what = facts_.assembles ? kind::assembly : kind::object;
    add(what, facts_.output, suffix_of_main_output(facts_), true);
  }

  void add(kind what, const std::optional<std::string>& name, std::string_view suffix,
           bool is_required) {
    all_.push_back({what, name ? *name : name_by_compiler(suffix), is_required});
  }

  std::string name_by_compiler(std::string_view suffix) const {
    return facts_.output ? with_suffix(*facts_.output, suffix)
                         : default_output(source().path, suffix);
  }

  const command_facts& facts_;
  std::vector<output> all_;
};

bool must_run_in_place(const command_facts& facts, const output_namer& namer) {
  // gcc names a target of -Wp,-MD after the source, clang after the output.
  const bool has_unclear_target =
      facts.passes_dependencies && facts.output && !namer.default_target().empty();
  // clang then warns of that option, with the file's name.
  const bool tells_names = facts.diagnostics && facts.inputs.front().language.is_assembler;
  return facts.depends_on_names || facts.runs_others || tells_names || facts.splits_debug ||
         facts.covers || facts.takes_notes || (facts.annotates_assembly && facts.assembles) ||
         has_unclear_target;
}

bool have_same_path(const std::vector<output>& outputs, std::string_view source) {
  for (auto one = outputs.begin(); one != outputs.end(); ++one) {
    const auto has_its_path = [&](const output& other) {
      return are_same_path(one->path, other.path);
    };
    if (are_same_path(one->path, source) || std::any_of(outputs.begin(), one, has_its_path))
      return true;
  }
  return false;
}

compile_command command_of(command_facts& facts) {
  output_namer namer(facts);
  compile_command command;
  command.source = facts.inputs.front().path;
  command.language = facts.inputs.front().language.name;
  command.outputs = namer.all();
  command.asks_for_dependencies = namer.asks_for_dependencies();
  command.colour = facts.colour;
  command.must_run_in_place = must_run_in_place(facts, namer);
  command.runs_others = facts.runs_others;
  command.default_target = namer.default_target();
  command.output_arguments = std::move(facts.output_arguments);
  if (!command.asks_for_dependencies)
    std::erase_if(command.output_arguments,
                  [](const auto& one) { return one.what == kind::dependencies; });
  return command;
}

} // namespace

tl::expected<compile_command, refusal> read_compile_command(std::vector<std::string> words,
                                                            const file_reader& read) {
  auto expanded = expand_response_files(std::move(words), read);
  if (!expanded) return tl::unexpected(std::move(expanded.error()));
  if (expanded->empty()) return tl::unexpected(refusal{uncached::no_source, {}});
  auto compiler = std::move(expanded->front());
  expanded->erase(expanded->begin());
  auto facts = read_facts(*expanded, is_cxx_driver(compiler));
  facts.is_clang = is_clang_driver(compiler);
  if (auto why = refusal_of(facts); why.why != uncached::none)
    return tl::unexpected(std::move(why));
  auto command = command_of(facts);
  if (have_same_path(command.outputs, command.source))
    return tl::unexpected(refusal{uncached::unclear_output, {}});
  command.compiler = std::move(compiler);
  command.arguments = std::move(*expanded);
  return command;
}

} // namespace hearth::launcher
