#include "runtime/cli/help/usage_problem.hpp"

#include "runtime/cli/help/suggestion.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <vector>

namespace hearth::cli {
namespace {

using word_list = std::vector<std::string>;

// The command that was given last, with the commands above it.
struct given_command {
  std::vector<const CLI::App*> path; // the program first
  std::string name;                  // "autotune list"; empty: there is none

  const CLI::App& last() const { return *path.back(); }
  std::string help() const { return name.empty() ? "hearth --help" : "hearth help " + name; }
};

given_command command_of(const CLI::App& app) {
  given_command given{{&app}, {}};
  for (auto below = app.get_subcommands(); !below.empty(); below = given.last().get_subcommands()) {
    given.path.push_back(below.back());
    given.name += (given.name.empty() ? "" : " ") + below.back()->get_name();
  }
  return given;
}

word_list commands_below(const given_command& given) {
  word_list names;
  for (const auto* one : given.last().get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(given.name.empty() ? one->get_name() : given.name + " " + one->get_name());
  return names;
}

// The options of the command first.
word_list options_of(const given_command& given) {
  word_list names;
  for (auto app = given.path.rbegin(); app != given.path.rend(); ++app)
    for (const auto* option : (*app)->get_options()) {
      for (const auto& name : option->get_lnames())
        names.push_back("--" + name);
      for (const auto& name : option->get_snames())
        names.push_back("-" + name);
    }
  return names;
}

std::string unknown_option(const given_command& given, const std::string& word) {
  const auto name = word.substr(0, word.find('='));
  const auto otherwise = "see '" + given.help() + "'";
  return "no option '" + name + "'" + (given.name.empty() ? "" : " of '" + given.name + "'") +
         "; " + did_you_mean(name, options_of(given), otherwise);
}

std::string unknown_command(const given_command& given, const std::string& word) {
  const auto name = given.name.empty() ? word : given.name + " " + word;
  return "no command '" + name + "'; " +
         did_you_mean(name, commands_below(given), "see '" + given.help() + "'");
}

} // namespace

std::string usage_problem(const CLI::App& app, const CLI::ParseError& problem) {
  constexpr bool of_all_commands = true;
  const auto unknown = app.remaining(of_all_commands);
  const auto given = command_of(app);
  const auto option = std::find_if(unknown.begin(), unknown.end(), [](const std::string& word) {
    return word.size() > 1 && word.starts_with('-') && word != "--";
  });
  if (option != unknown.end()) return unknown_option(given, *option);
  if (!unknown.empty() && !commands_below(given).empty())
    return unknown_command(given, unknown.front());
  return std::string(problem.what()) + "; see '" + given.help() + "'";
}

} // namespace hearth::cli
