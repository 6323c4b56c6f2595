#include "runtime/launcher/base_folder.hpp"

#include "runtime/launcher/compile_command.hpp"
#include "runtime/launcher/option_table.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace hearth::launcher {
namespace {

// Options whose value is a file or a folder to read, as a word of its own or joined.
constexpr std::array<std::string_view, 11> path_options{
    "-I",       "-F",      "-cxx-isystem",   "-idirafter", "-iframework",        "-imacros",
    "-include", "-iquote", "-isystem-after", "-isystem",   "--include-directory"};

constexpr std::array<std::string_view, 2> maps_of_debug{"-fdebug-prefix-map=",
                                                        "-ffile-prefix-map="};
constexpr std::array<std::string_view, 5> maps{
    "-fdebug-prefix-map=", "-ffile-prefix-map=", "-fmacro-prefix-map=", "-fcoverage-prefix-map=",
    "-fprofile-prefix-map="};

bool is_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

void skip_slashes(std::string_view& path) {
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
}

// What follows a folder in a path below it, without the slash.
std::optional<std::string_view> rest_below(std::string_view path, std::string_view folder) {
  if (!is_below(path, folder)) return std::nullopt;
  path.remove_prefix(folder.size());
  skip_slashes(path);
  return path;
}

std::string_view take_component(std::string_view& path) {
  const auto slash = path.find('/');
  const auto first = path.substr(0, slash);
  path.remove_prefix(first.size());
  skip_slashes(path);
  return first;
}

// The longest of the options that the word is, or begins with.
std::string_view path_option_of(std::string_view word) {
  std::string_view longest;
  for (const auto option : path_options)
    if (word.starts_with(option) && option.size() > longest.size()) longest = option;
  return longest;
}

// The name that a prefix map replaces. Nothing: it is another option, or compilers take its text
// apart differently.
template <std::size_t N>
std::optional<std::string_view> old_name(std::string_view word,
                                         const std::array<std::string_view, N>& options) {
  for (const auto option : options) {
    if (!word.starts_with(option)) continue;
    const auto mapping = word.substr(option.size());
    const auto equals = mapping.find('=');
    if (equals == mapping.npos || equals != mapping.rfind('=')) return std::nullopt;
    return mapping.substr(0, equals);
  }
  return std::nullopt;
}

// Whether the next word is the value of this one.
bool takes_next(std::string_view word) {
  const auto* const row = word.starts_with('-') ? find_option(word) : nullptr;
  return row && (row->form == option_form::separate ||
                 (row->form == option_form::joined_or_separate && word == row->name));
}

} // namespace

std::string relative_to_base(std::string_view path, const base_folder& base) {
  auto rest = rest_below(path, base.spelled);
  if (!rest) rest = rest_below(path, base.real);
  auto up = rest_below(base.working, base.real);
  if (!rest || !up) return std::string(path);
  // The working folder's own components are no links, so those in common lead to the same place.
  while (!up->empty() && is_below(*rest, up->substr(0, up->find('/')))) {
    take_component(*up);
    take_component(*rest);
  }
  std::string relative;
  while (!up->empty()) {
    take_component(*up);
    relative += "../";
  }
  relative += *rest;
  if (relative.size() > 1 && relative.ends_with('/')) relative.pop_back();
  return relative.empty() ? "." : relative;
}

void make_relative(compile_command& command, const base_folder& base) {
  auto& words = command.arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto option = path_option_of(words[i]);
    if (!option.empty() && words[i].size() > option.size()) {
      words[i] = std::string(option) + relative_to_base(words[i].substr(option.size()), base);
    } else if (takes_next(words[i])) {
      if (++i < words.size() && !option.empty()) words[i] = relative_to_base(words[i], base);
    } else if (words[i] == command.source) {
      words[i] = relative_to_base(words[i], base);
    }
  }
  command.source = relative_to_base(command.source, base);
  // The name of an output that is in its bytes, unless it is in those of a dependency file.
  if (!command.must_run_in_place || !command.default_target.empty()) return;
  for (const auto& named : command.output_arguments)
    if (named.what == output::kind::object && named.count == 2)
      words[named.first + 1] = relative_to_base(words[named.first + 1], base);
  for (auto& one : command.outputs)
    if (one.what != output::kind::dependencies && one.what != output::kind::diagnostics)
      one.path = relative_to_base(one.path, base);
}

bool maps_working_folder(const std::vector<std::string>& arguments, const base_folder& base) {
  return std::any_of(arguments.begin(), arguments.end(), [&](std::string_view word) {
    const auto old = old_name(word, maps_of_debug);
    return old && !old->empty() && is_below(base.working, *old);
  });
}

std::string key_argument(const std::string& argument, const base_folder& base) {
  const auto old = old_name(argument, maps);
  if (!old) return argument;
  const auto relative = relative_to_base(*old, base);
  if (relative == *old) return argument;
  const auto at = static_cast<std::size_t>(old->data() - argument.data());
  return argument.substr(0, at) + '\0' + relative + argument.substr(at + old->size());
}

} // namespace hearth::launcher
