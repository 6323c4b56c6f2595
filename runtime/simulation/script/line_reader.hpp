// Reads one line of a script from left to right; knows its position, for errors. One thread.
#pragma once

#include "messages/error.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::script {

/// Thrown inside the parser alone; `parse` turns it into an error.
struct syntax_error {
  std::string text;
};

class line_reader {
public:
  /// `text` without its comment; `where` is "FILE:LINE".
  line_reader(std::string where, std::string_view text);

  bool at_end();
  /// The column of the next token, from 1.
  std::size_t column();
  /// The text up to the next space or quote, without taking it.
  std::string_view peek_word();
  /// Takes the next word if it is `word`.
  bool accept(std::string_view word);
  void expect_word(std::string_view word);
  /// Takes the next word; `what` names the expected thing in errors.
  std::string take_word(std::string_view what);
  /// Takes a name: letters, digits, `_` and `-`.
  std::string take_name(std::string_view what);
  bool at_string();
  /// `"..."` with \n, \t, \", \\ and \xNN.
  std::string take_string(std::string_view what);
  std::uint64_t take_number(std::string_view what);
  std::int64_t take_integer(std::string_view what);
  /// 4096, 64KiB, 1MiB.
  std::uint64_t take_size(std::string_view what);
  /// 5ms, 10us, 1s, 2min.
  std::chrono::nanoseconds take_duration(std::string_view what);
  /// Takes the rest of the line.
  std::string take_rest(std::string_view what);
  void expect_end();
  /// A reader of a part of a word, for errors of this line.
  line_reader part(std::string_view text) const { return {where_, text}; }

  [[noreturn]] void fail(std::string_view expected);
  /// Reports an error at this column.
  [[noreturn]] void fail_at(std::size_t column, std::string_view problem) const;

private:
  void skip_spaces();

  std::string where_;
  std::string_view text_;
  std::size_t at_ = 0;
};

/// Parses a size such as 64KiB; nothing for other text.
std::optional<std::uint64_t> size_of(std::string_view text);

} // namespace hearth::script
