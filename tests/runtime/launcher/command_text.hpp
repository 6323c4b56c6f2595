// Command lines and their meaning as one line of text, for tables of tests.
#pragma once

#include "runtime/launcher/compile_command.hpp"

#include <doctest/doctest.h>

namespace hearth::test {

using command_words = std::vector<std::string>;

/// The words of a line; quotes and backslashes as in a response file.
inline command_words words_of(std::string_view line) {
  auto all = launcher::split_response(line);
  REQUIRE(all);
  return *all;
}

/// Words with a space between them.
inline std::string text_of(const command_words& all) {
  std::string text;
  for (const auto& one : all)
    text += (text.empty() ? "" : " ") + one;
  return text;
}

inline std::optional<std::string> no_file(const std::string&) { return std::nullopt; }

inline launcher::compile_command command_of(std::string_view line) {
  auto command = launcher::read_compile_command(words_of(line), no_file);
  REQUIRE_MESSAGE(command, std::string(line), ": ",
                  std::string(launcher::reason_text(command.error().why)));
  return *command;
}

/// Why a line is not cached, in words; "cached" if it is.
inline std::string reason_of(std::string_view line) {
  const auto command = launcher::read_compile_command(words_of(line), no_file);
  return std::string(
      launcher::reason_text(command ? launcher::uncached::none : command.error().why));
}

} // namespace hearth::test
