#include "runtime/front/run_line.hpp"

#include "messages/size_text.hpp"
#include "messages/time_text.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>

namespace hearth::front {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

expected<milliseconds> read_time(const std::string& text, const char* option) {
  if (const auto time = parse_milliseconds(text)) return *time;
  return fail(errc::invalid_argument,
              std::string(option) + ": '" + text + "' is no time; write 500ms, 90s, 5min or 2h");
}

expected<void> set_bounds(const run_arguments& arguments, action& into) {
  if (!arguments.timeout.empty()) {
    const auto time = read_time(arguments.timeout, "--timeout");
    if (!time) return fail(time.error());
    into.timeout = *time;
  }
  if (!arguments.cpu.empty()) {
    const auto time = read_time(arguments.cpu, "--cpu");
    if (!time) return fail(time.error());
    into.limits.cpu_seconds =
        static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::seconds>(*time).count());
  }
  if (!arguments.memory.empty()) {
    const auto bytes = parse_size(arguments.memory);
    if (!bytes) return fail(bytes.error().within("--memory"));
    into.limits.memory_bytes = *bytes;
  }
  return {};
}

// The value of an option, in the same word or the next one; nothing when the option is absent.
std::optional<std::string> value_of(const std::vector<std::string>& words,
                                    std::string_view option) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == option && i + 1 < words.size()) return words[i + 1];
    if (words[i].starts_with(option) && words[i].size() > option.size())
      return words[i].substr(option.size());
  }
  return std::nullopt;
}

// The dependency file that the compiler writes: the one of -MF; else, with -MD or -MMD, the
// output's name with .d; else an output that ends in .d.
std::string dependency_file_of(const run_arguments& arguments) {
  if (!arguments.dependency_file.empty()) return arguments.dependency_file;
  const auto& words = arguments.command;
  for (const auto* option : {"-MF", "-Wp,-MD,", "-Wp,-MMD,"})
    if (const auto name = value_of(words, option)) return *name;
  const bool writes_one = std::any_of(
      words.begin(), words.end(), [](const auto& word) { return word == "-MD" || word == "-MMD"; });
  const auto output = value_of(words, "-o");
  if (writes_one && output) return fs::path(*output).replace_extension(".d").string();
  if (writes_one && !arguments.outputs.empty())
    return fs::path(arguments.outputs.front()).replace_extension(".d").string();
  for (const auto& name : arguments.outputs)
    if (name.ends_with(".d")) return name;
  return {};
}

} // namespace

expected<action> action_of(const run_arguments& arguments) {
  action asked;
  std::error_code failure;
  asked.directory = fs::current_path(failure);
  if (failure) return fail(error_of_errno(failure.value(), "cannot find the working directory"));
  asked.command = arguments.command;
  asked.inputs.assign(arguments.inputs.begin(), arguments.inputs.end());
  asked.outputs.assign(arguments.outputs.begin(), arguments.outputs.end());
  asked.toolchains = arguments.toolchains;
  for (const auto& name : arguments.variables) {
    if (name.empty() || name.find('=') != name.npos)
      return fail(errc::invalid_argument, "--env: '" + name +
                                              "' is no name of a variable; give the name alone, "
                                              "and its value in the environment");
    if (const char* text = std::getenv(name.c_str())) asked.environment.emplace(name, text);
  }
  asked.dependency_file = dependency_file_of(arguments);
  asked.keep_failures = arguments.keep_failures;
  asked.is_cached = !arguments.no_cache;
  asked.sees_undeclared = !arguments.strict;
  asked.placeholders = arguments.placeholders;
  if (auto set = set_bounds(arguments, asked); !set) return fail(set.error());
  return asked;
}

} // namespace hearth::front
