#include "runtime/actions/compile_in_folder.hpp"

#include "runtime/actions/action_key.hpp"
#include "runtime/launcher/compile_command.hpp"

#include <algorithm>
#include <optional>
#include <system_error>
#include <vector>

namespace hearth {
namespace {

namespace fs = std::filesystem;

// Stands for the scratch directory, which is made later.
constexpr std::string_view scratch_mark = "/scratch of the run";

// The compile that the command line asks for. A response file would have to be part of the key.
std::optional<launcher::compile_command> compile_of(const action& asked) {
  const auto is_response = [](const std::string& word) { return word.starts_with('@'); };
  if (std::any_of(asked.command.begin(), asked.command.end(), is_response)) return std::nullopt;
  if (std::any_of(asked.environment.begin(), asked.environment.end(), [](const auto& variable) {
        return launcher::is_unsupported_variable(variable.first);
      }))
    return std::nullopt;
  auto compile = launcher::read_compile_command(
      asked.command, [](const std::string&) -> std::optional<std::string> { return {}; });
  if (!compile || compile->must_run_in_place) return std::nullopt;
  return std::move(*compile);
}

// The index of the action's output at this place; the count of outputs: none is.
std::size_t index_of(const action& asked, const fs::path& place) {
  const auto at = std::find_if(asked.outputs.begin(), asked.outputs.end(),
                               [&](const auto& name) { return place_of(asked, name) == place; });
  return static_cast<std::size_t>(at - asked.outputs.begin());
}

bool is_same_file(const fs::path& one, const fs::path& other) {
  std::error_code ignored;
  return fs::equivalent(one, other, ignored);
}

// Whether a name leads to this place by its own folders too: a ".." behind a symbolic link leads
// elsewhere.
bool is_where_it_says(const fs::path& folder, const fs::path& name, const fs::path& place) {
  const bool goes_up =
      std::any_of(name.begin(), name.end(), [](const fs::path& part) { return part == ".."; });
  return !goes_up || is_same_file((folder / name).parent_path(), place.parent_path());
}

} // namespace

std::optional<deciding_words> run_in_folder(const action& asked, action_request& request) {
  using kind = launcher::output::kind;
  const auto compile = compile_of(asked);
  if (!compile) return std::nullopt;
  const auto redirected = launcher::redirected(*compile, scratch_mark);
  std::vector<std::string> argv{asked.command.front()};
  argv.insert(argv.end(), redirected.arguments.begin(), redirected.arguments.end());
  std::vector<action_request::output> outputs(asked.outputs.size()), byproducts;
  std::string dependency_file;
  for (std::size_t i = 0; i < compile->outputs.size(); ++i) {
    const auto& made = compile->outputs[i];
    const auto& path = redirected.paths[i];
    const auto place = place_of(asked, made.path);
    const auto word = std::find(argv.begin(), argv.end(), path);
    const bool is_source = is_same_file(place, place_of(asked, compile->source));
    // Stack usage goes beside the object.
    const bool is_named = word != argv.end();
    if (is_source || (!is_named && made.what != kind::stack_usage)) return std::nullopt;
    if (!is_where_it_says(asked.directory, made.path, place)) return std::nullopt;
    action_request::output file{is_named ? static_cast<std::size_t>(word - argv.begin())
                                         : action_request::no_argument,
                                path.substr(scratch_mark.size() + 1)};
    const auto index = index_of(asked, place);
    if (index < outputs.size()) {
      file.is_required = !asked.optional_outputs.contains(asked.outputs[index]);
      outputs[index] = file;
    } else if (made.what == kind::dependencies) {
      byproducts.push_back(file);
    } else {
      return std::nullopt;
    }
    if (!asked.dependency_file.empty() && place == place_of(asked, asked.dependency_file))
      dependency_file = file.name;
  }
  const bool are_all_made = std::none_of(outputs.begin(), outputs.end(),
                                         [](const auto& one) { return one.name.empty(); });
  if (!are_all_made || dependency_file.empty() != asked.dependency_file.empty())
    return std::nullopt;
  deciding_words words{{asked.command.front()}, {}, "its folder"};
  for (auto& word : launcher::key_arguments(*compile))
    words.command.push_back(asked.base ? launcher::key_argument(word, *asked.base)
                                       : std::move(word));
  for (const auto& output : outputs)
    words.outputs.push_back(output.name);
  request.process.argv = std::move(argv);
  request.process.directory = asked.directory.lexically_normal().string();
  request.outputs = std::move(outputs);
  request.byproducts = std::move(byproducts);
  request.dependency_file = std::move(dependency_file);
  request.view = {};
  return words;
}

} // namespace hearth
