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
  auto compile = launcher::read_compile_command(
      asked.command, [](const std::string&) -> std::optional<std::string> { return {}; });
  if (!compile || compile->must_run_in_place) return std::nullopt;
  return std::move(*compile);
}

// The index of the compiler's output that is this file; the count of outputs: none is.
std::size_t index_of(const action& asked, const launcher::compile_command& compile,
                     const fs::path& name) {
  const auto place = place_of(asked, name);
  const auto at =
      std::find_if(compile.outputs.begin(), compile.outputs.end(), [&](const auto& one) {
        return one.is_required && place_of(asked, one.path) == place;
      });
  return static_cast<std::size_t>(at - compile.outputs.begin());
}

bool is_same_file(const fs::path& one, const fs::path& other) {
  std::error_code ignored;
  return fs::equivalent(one, other, ignored);
}

} // namespace

bool run_in_folder(const action& asked, action_request& request) {
  const auto compile = compile_of(asked);
  if (!compile || compile->outputs.size() != asked.outputs.size()) return false;
  const auto folder = asked.directory.lexically_normal();
  const auto redirected = launcher::redirected(*compile, scratch_mark);
  std::vector<std::string> argv{asked.command.front()};
  argv.insert(argv.end(), redirected.arguments.begin(), redirected.arguments.end());
  auto outputs = request.outputs;
  std::string dependency_file;
  for (std::size_t i = 0; i < asked.outputs.size(); ++i) {
    const auto place = place_of(asked, asked.outputs[i]);
    const auto which = index_of(asked, *compile, asked.outputs[i]);
    if (which == compile->outputs.size()) return false;
    if (is_same_file(place, place_of(asked, compile->source))) return false;
    const auto& path = redirected.paths[which];
    const auto word = std::find(argv.begin(), argv.end(), path);
    if (word == argv.end()) return false;
    const auto name = path.substr(scratch_mark.size() + 1);
    outputs[i] = {static_cast<std::size_t>(word - argv.begin()), name};
    if (!asked.dependency_file.empty() && place == place_of(asked, asked.dependency_file))
      dependency_file = name;
  }
  if (dependency_file.empty() != asked.dependency_file.empty()) return false;
  request.process.argv = std::move(argv);
  request.process.directory = folder.string();
  request.outputs = std::move(outputs);
  request.dependency_file = std::move(dependency_file);
  request.view = {};
  return true;
}

} // namespace hearth
