#include "runtime/front/compile_line.hpp"

#include "runtime/actions/hidden_inputs.hpp"
#include "runtime/actions/tool_identity.hpp"
#include "runtime/launcher/compile_command.hpp"
#include "runtime/launcher/compile_variables.hpp"
#include "runtime/os/files/whole_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <sys/stat.h>
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

// Whether Hearth replaces this file, or makes it, as the compiler does: it is an ordinary one, with
// the rights of a new file, by one name.
bool is_plain_place(const std::string& output) {
  const auto folder = std::filesystem::path(output).parent_path();
  struct stat found {};
  const auto* const in = folder.empty() ? "." : folder.c_str();
  if (::stat(in, &found) != 0 || !S_ISDIR(found.st_mode) || ::access(in, W_OK) != 0) return false;
  if (::lstat(output.c_str(), &found) != 0) return errno == ENOENT;
  const auto mask = ::umask(0);
  ::umask(mask);
  const mode_t rights = 0777;
  return S_ISREG(found.st_mode) && found.st_nlink == 1 && ::access(output.c_str(), W_OK) == 0 &&
         (found.st_mode & rights) == (0666 & ~mask);
}

// A name of what this process has open, which the compiler has not, or that is another thing each
// time.
bool names_stream(std::string_view word) {
  return word.find("/dev/") != word.npos || word.find("/proc/") != word.npos;
}

// Whether a file is a link to such a name, by further links or not.
bool leads_to_stream(const std::string& word) {
  constexpr int most_links = 40; // that the system follows
  std::filesystem::path at(word);
  for (int i = 0; i < most_links; ++i) {
    std::error_code failure;
    const auto target = std::filesystem::read_symlink(at, failure);
    if (failure) return false;
    at = at.parent_path() / target;
    if (names_stream(at.native())) return true;
  }
  return false;
}

// The base folder, if this folder is below it.
std::optional<launcher::base_folder> base_of(const std::filesystem::path& folder) {
  const char* const given = std::getenv(base_variable);
  if (!given || *given != '/') return std::nullopt;
  std::string spelled(given);
  while (spelled.size() > 1 && spelled.ends_with('/'))
    spelled.pop_back();
  std::error_code failure;
  const auto real = std::filesystem::canonical(spelled, failure);
  if (failure || real == "/" || spelled == "/") return std::nullopt;
  const auto name = folder.lexically_relative(real);
  if (name.empty() || *name.begin() == "..") return std::nullopt;
  return launcher::base_folder{spelled, real.string(), folder.string()};
}

bool is_gcc(const std::string& compiler) {
  const auto name = std::filesystem::path(compiler).filename().string();
  return name.find("gcc") != name.npos || name.find("g++") != name.npos;
}

// Whether the compiler takes the date from SOURCE_DATE_EPOCH: Clang does from 16 on alone.
bool is_dated(const std::string& compiler) {
  return is_gcc(compiler) && std::getenv("SOURCE_DATE_EPOCH");
}

// Clang calls a precompiled header otherwise, and writes the times of files into it.
bool is_precompiled_by_others(const launcher::compile_command& compile) {
  return !is_gcc(compile.compiler) &&
         std::any_of(compile.outputs.begin(), compile.outputs.end(), [](const auto& one) {
           return one.what == launcher::output::kind::precompiled;
         });
}

} // namespace

tl::expected<action, refusal> action_of_compile(const std::vector<std::string>& words) {
  auto compile = launcher::read_compile_command(words, read_response);
  if (!compile) return tl::unexpected(std::move(compile.error()));
  const auto& outputs = compile->outputs;
  const auto is_plain = [](const launcher::output& one) { return is_plain_place(one.path); };
  if (compile->runs_others || !std::all_of(outputs.begin(), outputs.end(), is_plain))
    return tl::unexpected(refusal{uncached::further_output, {}});
  if (is_precompiled_by_others(*compile))
    return tl::unexpected(refusal{uncached::precompiled_header, {}});
  action asked;
  asked.is_dated = is_dated(compile->compiler);
  for (const auto& word : compile->arguments)
    if (names_stream(word) || leads_to_stream(word) || uses_clock(word, asked.is_dated))
      return tl::unexpected(refusal{uncached::unsupported_option, word});
  std::error_code failure;
  asked.directory = std::filesystem::current_path(failure);
  if (failure || !take_environment(asked))
    return tl::unexpected(refusal{uncached::environment, {}});
  // An overlay lies over the folder alone.
  const auto is_below = [&](const launcher::output& one) {
    const auto name = (asked.directory / one.path).lexically_relative(asked.directory);
    return !name.empty() && *name.begin() != "..";
  };
  if (compile->must_run_in_place && !std::all_of(outputs.begin(), outputs.end(), is_below))
    return tl::unexpected(refusal{uncached::output_elsewhere, {}});
  asked.base = base_of(asked.directory);
  if (asked.base) launcher::make_relative(*compile, *asked.base);
  asked.command.push_back(std::move(compile->compiler));
  asked.command.insert(asked.command.end(), compile->arguments.begin(), compile->arguments.end());
  for (const auto& output : outputs) {
    asked.outputs.push_back(output.path);
    if (!output.is_required) asked.optional_outputs.insert(output.path);
  }
  process_request run;
  run.argv = asked.command;
  // With a base folder, what the compile has made is looked through for the folder's name.
  const auto told = asked.other_variables.find("PWD");
  const bool is_usual =
      told == asked.other_variables.end() || (asked.base && told->second == asked.base->working);
  const bool may_tell =
      asked.base && is_usual
          ? may_tell_folder(run) && !launcher::maps_working_folder(asked.command, *asked.base)
          : watching_of_compiler(run) == watching::files_and_links;
  if (may_tell)
    if (auto folder = asked.other_variables.extract("PWD"))
      asked.environment.insert(std::move(folder));
  asked.is_compile = true;
  asked.refuses_hidden_inputs = true;
  return asked;
}

bool has_to_run_plainly(const action_outcome& outcome) {
  return !outcome.succeeded() || (!outcome.err.empty() && ::isatty(STDERR_FILENO) != 0);
}

} // namespace hearth::front
