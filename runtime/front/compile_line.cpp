#include "runtime/front/compile_line.hpp"

#include "runtime/actions/tool_identity.hpp"
#include "runtime/launcher/compile_command.hpp"
#include "runtime/launcher/compile_variables.hpp"
#include "runtime/os/files/whole_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>
#include <unistd.h>

extern char** environ;

namespace hearth::front {
namespace {

using launcher::refusal;
using launcher::uncached;

std::optional<std::string> read_response(const std::string& path) {
  auto text = os::read_whole_file(path, launcher::max_response_bytes);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

bool is_set(const char* variable) {
  const char* const text = std::getenv(variable);
  return text && *text;
}

// As gcc and clang decide where no option says.
bool are_messages_coloured() {
  const char* const terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) != 0 && terminal && std::string_view(terminal) != "dumb" &&
         !is_set("NO_COLOR");
}

// Hands the environment on. Returns false if it makes the compiler write further files.
bool take_environment(action& into) {
  // The run has a folder of its own for temporary files, and PATH is a part of what is run.
  constexpr std::string_view own[] = {"PATH", "TMPDIR"};
  for (char** at = environ; *at; ++at) {
    const std::string_view variable(*at);
    const auto end = variable.find('=');
    if (end == variable.npos) continue;
    const auto name = variable.substr(0, end);
    if (launcher::is_unsupported_variable(name)) return false;
    if (std::find(std::begin(own), std::end(own), name) != std::end(own)) continue;
    auto& all = launcher::is_keyed_variable(name) ? into.environment : into.other_variables;
    all.emplace(name, variable.substr(end + 1));
  }
  return true;
}

// Whether the compiler would replace this file, or make it: anything else is its own affair.
bool is_plain_place(const std::string& output) {
  std::error_code ignored;
  const std::filesystem::path path(output);
  const auto folder = path.has_parent_path() ? path.parent_path() : ".";
  const auto found = std::filesystem::symlink_status(path, ignored).type();
  return std::filesystem::is_directory(folder, ignored) &&
         (found == std::filesystem::file_type::not_found ||
          found == std::filesystem::file_type::regular);
}

} // namespace

tl::expected<action, refusal> action_of_compile(const std::vector<std::string>& words) {
  auto compile = launcher::read_compile_command(words, read_response);
  if (!compile) return tl::unexpected(std::move(compile.error()));
  const auto is_usual = [](const launcher::output& one) {
    return one.is_required && is_plain_place(one.path);
  };
  if (compile->must_run_in_place ||
      !std::all_of(compile->outputs.begin(), compile->outputs.end(), is_usual))
    return tl::unexpected(refusal{uncached::further_output, {}});
  action asked;
  std::error_code failure;
  asked.directory = std::filesystem::current_path(failure);
  if (failure || !take_environment(asked))
    return tl::unexpected(refusal{uncached::environment, {}});
  asked.command.push_back(std::move(compile->compiler));
  if (!compile->colour && are_messages_coloured())
    asked.command.push_back("-fdiagnostics-color=always");
  asked.command.insert(asked.command.end(), compile->arguments.begin(), compile->arguments.end());
  for (const auto& output : compile->outputs)
    asked.outputs.push_back(output.path);
  process_request run;
  run.argv = asked.command;
  if (watching_of_compiler(run) == watching::files_and_links)
    if (auto folder = asked.other_variables.extract("PWD"))
      asked.environment.insert(std::move(folder));
  asked.runs_in_folder = true;
  asked.clock_counts = true;
  return asked;
}

} // namespace hearth::front
