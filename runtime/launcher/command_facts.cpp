#include "runtime/launcher/command_facts.hpp"

#include "runtime/launcher/option_table.hpp"
#include "runtime/launcher/passed_options.hpp"

#include <utility>

namespace hearth::launcher {
namespace {

using kind = output::kind;

// The fact that an option makes true; null for options with another effect.
constexpr bool command_facts::*fact_of(option_effect effect) {
  using enum option_effect;
  switch (effect) {
  case compile: return &command_facts::compiles;
  case assemble: return &command_facts::assembles;
  case preprocess: return &command_facts::preprocesses;
  case check_syntax: return &command_facts::checks_syntax;
  case list_dependencies: return &command_facts::lists_dependencies;
  case name_target: return &command_facts::names_target;
  case split_debug: return &command_facts::splits_debug;
  case write_notes: return &command_facts::covers;
  case write_notes_by_flag: return &command_facts::takes_notes;
  case write_stack_usage: return &command_facts::writes_stack_usage;
  case write_llvm: return &command_facts::writes_llvm;
  case depend_on_names: return &command_facts::depends_on_names;
  case run_others: return &command_facts::runs_others;
  case annotate_assembly: return &command_facts::annotates_assembly;
  default: return nullptr;
  }
}

bool is_device(std::string_view path) {
  return path.starts_with("/dev/") && !path.starts_with("/dev/shm/");
}

// Reads options from left to right.
class option_reader {
public:
  option_reader(const std::vector<std::string>& words, bool is_cxx)
      : words_(words)
      , is_cxx_(is_cxx) {}

  command_facts read() {
    for (at_ = 0; at_ < words_.size(); at_ += count_) {
      count_ = 1;
      read_word(words_[at_]);
    }
    if (frontend_.has_plugin()) facts_.runs_others = true;
    return std::move(facts_);
  }

private:
  void read_word(const std::string& word) {
    if (only_inputs_ || word == "-" || !word.starts_with('-')) return add_input(word);
    if (word == "--") {
      only_inputs_ = true;
      return;
    }
    if (const auto* const row = find_option(word)) read_option(word, *row);
  }

  void read_option(std::string_view word, const option_row& row) {
    auto value = word.substr(row.name.size());
    const bool is_separate = row.form == option_form::separate ||
                             (row.form == option_form::joined_or_separate && value.empty());
    if (is_separate) {
      if (at_ + 1 == words_.size()) return refuse(uncached::incomplete_command_line);
      value = words_[at_ + 1];
      count_ = 2;
    }
    if (const auto fact = fact_of(row.effect))
      facts_.*fact = true;
    else
      act_on(row, value);
  }

  void add_input(const std::string& path) {
    facts_.inputs.push_back({path, language_ ? *language_ : language_of_file(path, is_cxx_)});
  }

  void act_on(const option_row& row, std::string_view value) {
    using enum option_effect;
    switch (row.effect) {
    case refused: return refuse(row.reason);
    case refused_if_equals:
      if (value.find('=') != value.npos) refuse(row.reason);
      return;
    case refused_if_file:
      if (value.ends_with("-file")) refuse(row.reason);
      return;
    case name_output: return name_output_file(facts_.output, value, kind::object);
    case name_dependencies:
      return name_output_file(facts_.dependency_file, value, kind::dependencies);
    case name_diagnostics: return name_output_file(facts_.diagnostics, value, kind::diagnostics);
    case name_notes:
      facts_.depends_on_names = true;
      return name_output_file(facts_.notes, value, kind::coverage_notes);
    case keep_debug: facts_.splits_debug = false; return;
    case keep_notes: facts_.takes_notes = false; return;
    case colour: facts_.colour = true; return;
    case no_colour: facts_.colour = false; return;
    case colour_by_terminal: facts_.colour.reset(); return;
    case choose_language: return choose(value);
    case pass_to_preprocessor: return read_preprocessor_list(value);
    case pass_to_assembler: return refuse_for(reason_of_assembler_options(value));
    case pass_to_clang: return refuse_for(frontend_.reason_of_next(value));
    case pass_to_llvm: return refuse_for(reason_of_llvm_option(value));
    case choose_architecture:
      if (std::exchange(has_architecture_, true)) refuse(uncached::several_architectures);
      return;
    case choose_driver: return choose_driver_mode(value);
    default: return;
    }
  }

  void name_output_file(std::optional<std::string>& name, std::string_view value, kind what) {
    if (name || value.empty() || value.ends_with('/'))
      return refuse(uncached::incomplete_command_line);
    if (value == "-") return refuse(uncached::output_to_stdout);
    if (is_device(value)) return refuse(uncached::output_to_device);
    name = value;
    facts_.output_arguments.push_back({what, at_, count_});
  }

  void choose(std::string_view language) {
    language_.reset();
    if (language != "none") language_ = language_named(language);
  }

  // `-Wp,-MD,file` is one option of its own in both compilers.
  void read_preprocessor_list(std::string_view list) {
    auto rest = list;
    const auto option = take_word(rest);
    if ((option != "-MD" && option != "-MMD") || rest.empty() || rest.find(',') != rest.npos)
      return refuse_for(reason_of_preprocessor_options(list));
    facts_.passes_dependencies = true;
    name_output_file(facts_.dependency_file, rest, kind::dependencies);
  }

  void choose_driver_mode(std::string_view mode) {
    if (mode != "gcc" && mode != "g++") return refuse(uncached::unsupported_option);
    is_cxx_ = mode == "g++";
  }

  void refuse_for(uncached why) {
    if (why != uncached::none) refuse(why);
  }

  void refuse(uncached why) {
    if (facts_.refused.why != uncached::none) return;
    facts_.refused = {why, words_[at_]};
    if (count_ == 2) facts_.refused.argument += " " + words_[at_ + 1];
  }

  const std::vector<std::string>& words_;
  bool is_cxx_;
  bool only_inputs_ = false;
  bool has_architecture_ = false;
  std::optional<source_language> language_; // of the inputs that follow
  frontend_options frontend_;
  std::size_t at_ = 0;
  std::size_t count_ = 1; // of words that the current option takes
  command_facts facts_;
};

} // namespace

command_facts read_facts(const std::vector<std::string>& words, bool is_cxx) {
  return option_reader(words, is_cxx).read();
}

} // namespace hearth::launcher
