#include "runtime/cli/commands/help_command.hpp"

#include "runtime/cli/help/suggestion.hpp"
#include "runtime/cli/help/topics.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <fmt/format.h>

namespace hearth::cli {
namespace {

std::string summary() {
  std::string text(help_summary());
  for (const auto& topic : help_topics())
    text += fmt::format("  {:<12}          {}\n", topic.name, topic.about);
  return text;
}

std::vector<std::string> commands_and_topics(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* one : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(one->get_name());
  for (const auto& topic : help_topics())
    names.emplace_back(topic.name);
  return names;
}

const CLI::App* command_below(const CLI::App& app, const std::string& name) {
  const auto found =
      app.get_subcommands([&](const CLI::App* one) { return one->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

// "hearth autotune list", which the parser's text begins with.
std::string name_above(const std::vector<std::string>& words) {
  std::string name = "hearth";
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    name += " " + words[i];
  return name;
}

} // namespace

status help(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty()) return print(summary(), yes);
  const auto topics = help_topics();
  const auto topic = std::find_if(topics.begin(), topics.end(),
                                  [&](const auto& one) { return one.name == words.front(); });
  if (topic != topics.end() && words.size() == 1) return print(topic->text, yes);
  const auto* at = &app;
  for (const auto& word : words) {
    const auto* below = command_below(*at, word);
    if (!below)
      return report(
          {errc::invalid_argument,
           fmt::format("no help about '{}'; {}", word,
                       did_you_mean(word, commands_and_topics(*at), "see 'hearth help'"))});
    at = below;
  }
  const auto text = at->help(name_above(words));
  return print(text + "\nThe options of every command: hearth --help\n", yes);
}

} // namespace hearth::cli
