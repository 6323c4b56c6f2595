// Cuts the text of a guard into the tokens of Python. Used by the compiler of guards, on its
// caller's thread.
#pragma once

#include "messages/error.hpp"
#include "messages/source_place.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::guards {

enum class token_kind : std::uint8_t { end, number, word, text, symbol };

struct token {
  token_kind kind = token_kind::end;
  std::string_view text;   ///< the text of the token, including quotes
  std::size_t offset = 0;  ///< bytes from the start
  std::uint64_t value = 0; ///< the number's value; 2^64 - 1 for any larger number too
};

/// "column 7: what"
std::string at_column(std::string_view text, std::size_t offset, std::string_view what);

/// Whether this word is a keyword of Python.
bool is_keyword(std::string_view word);

class lexer {
public:
  /// `text` must outlive the lexer and its tokens.
  explicit lexer(std::string_view text)
      : text_(text) {}

  /// The next token; after the last one always `end`. Errors: `malformed`.
  expected<token> next();

private:
  /// Skips blanks, and line breaks where Python does; returns false at any other line break.
  bool skip_blanks();
  expected<token> number();
  expected<token> quoted_text();
  expected<token> symbol();
  token take(token_kind kind, std::size_t size);
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  tl::unexpected<error> malformed(std::size_t offset, std::string_view what) const {
    return fail(errc::malformed, at_column(text_, offset, what));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t open_brackets_ = 0;
  bool begun_ = false; // the first token was read
};

} // namespace hearth::guards
