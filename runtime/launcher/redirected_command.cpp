#include "runtime/launcher/compile_command.hpp"
#include "runtime/launcher/output_names.hpp"

#include <algorithm>

namespace hearth::launcher {
namespace {

using kind = output::kind;
using words = std::vector<std::string>;

// Below the new folder, all outputs have one stem: the names that the compiler derives from -o are
// known.
std::string_view new_name(kind what) {
  switch (what) {
  case kind::assembly: return "output.s";
  case kind::dependencies: return "output.d";
  case kind::split_debug: return "output.dwo";
  case kind::coverage_notes: return "output.gcno";
  case kind::stack_usage: return "output.su";
  case kind::diagnostics: return "output.dia";
  case kind::precompiled: return "output.gch";
  default: return "output.o";
  }
}

bool is_main(kind what) {
  return what == kind::object || what == kind::assembly || what == kind::precompiled;
}

// Writes the redirected arguments from left to right.
class redirection {
public:
  redirection(const compile_command& command, std::string_view folder)
      : command_(command)
      , folder_(folder) {}

  words paths() const {
    words all;
    for (const auto& one : command_.outputs)
      all.push_back(path_of(one.what));
    return all;
  }

  // New options go first: after `--` they would be names of files.
  words arguments() {
    for (const auto& one : command_.outputs)
      add_missing_name(one.what);
    if (!command_.default_target.empty()) add({"-MQ", command_.default_target});
    std::size_t copied = 0;
    for (const auto& named : command_.output_arguments) {
      copy(copied, named.first);
      rename(named);
      copied = named.first + named.count;
    }
    copy(copied, command_.arguments.size());
    return std::move(all_);
  }

private:
  std::string path_of(kind what) const { return folder_ + "/" + std::string(new_name(what)); }

  const output* main_output() const {
    const auto at = std::find_if(command_.outputs.begin(), command_.outputs.end(),
                                 [](const auto& one) { return is_main(one.what); });
    return at == command_.outputs.end() ? nullptr : &*at;
  }

  bool is_named(kind what) const {
    return std::any_of(
        command_.output_arguments.begin(), command_.output_arguments.end(),
        [&](const auto& one) { return one.what == what || (is_main(one.what) && is_main(what)); });
  }

  void add(std::initializer_list<std::string> more) { all_.insert(all_.end(), more); }

  void add_missing_name(kind what) {
    if (is_named(what)) return;
    if (is_main(what)) add({"-o", path_of(what)});
    if (what == kind::dependencies) add({"-MF", path_of(what)});
  }

  void copy(std::size_t from, std::size_t to) {
    const auto begin = command_.arguments.begin();
    all_.insert(all_.end(), begin + static_cast<std::ptrdiff_t>(from),
                begin + static_cast<std::ptrdiff_t>(to));
  }

  void rename(const output_argument& named) {
    const auto& option = command_.arguments[named.first];
    if (named.what == kind::dependencies) return rename_dependencies(option);
    if (named.what == kind::diagnostics) return add({option, path_of(named.what)});
    if (const auto* const main = main_output()) return add({"-o", path_of(main->what)});
    copy(named.first, named.first + named.count); // nothing is written to it
  }

  // A comma in the new folder's name would end a word of -Wp.
  void rename_dependencies(std::string_view option) {
    if (option.starts_with("-Wp,-MD,")) add({"-MD"});
    if (option.starts_with("-Wp,-MMD,")) add({"-MMD"});
    add({"-MF", path_of(kind::dependencies)});
  }

  const compile_command& command_;
  std::string folder_;
  words all_;
};

// What remains of an option without the name of its output: that the output is asked for.
void add_without_name(const std::string& option, kind what, words& key) {
  if (option.starts_with("-Wp,"))
    key.push_back(option.substr(0, option.rfind(',') + 1));
  else if (what == kind::diagnostics)
    key.push_back(option);
}

words own_paths(const compile_command& command) {
  words all;
  for (const auto& one : command.outputs)
    all.push_back(one.path);
  return all;
}

} // namespace

redirected_command redirected(const compile_command& command, std::string_view folder) {
  if (command.must_run_in_place) return {command.arguments, own_paths(command)};
  redirection to(command, folder);
  return {to.arguments(), to.paths()};
}

words key_arguments(const compile_command& command) {
  words key;
  auto named = command.output_arguments.begin();
  for (std::size_t i = 0; i < command.arguments.size();) {
    const bool is_name = named != command.output_arguments.end() && named->first == i;
    if (is_name && !command.must_run_in_place) {
      add_without_name(command.arguments[i], named->what, key);
      i += named->count;
    } else {
      key.push_back(command.arguments[i++]);
    }
    if (is_name) ++named;
  }
  if (!command.must_run_in_place && !command.default_target.empty())
    key.insert(key.end(), {"-MQ", command.default_target});
  return key;
}

} // namespace hearth::launcher
