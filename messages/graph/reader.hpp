// Steps through the text of a graph: names, punctuation, and stretches of text that are kept
// unchanged. Used by the parser of graphs, on its caller's thread.
//
// After the first error every call reads nothing and returns false or empty.
#pragma once

#include "messages/error.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::graphs {

class reader {
public:
  /// `text` must outlive the reader.
  explicit reader(std::string_view text)
      : text_(text) {}

  bool failed() const noexcept { return failure_.has_value(); }
  const error& failure() const noexcept { return *failure_; }
  /// Fails with "line 3, column 7: what" for the byte at `offset`; always false.
  bool fail_at(std::size_t offset, std::string_view what, errc code = errc::malformed);
  /// Fails because `wanted` is missing; always false.
  bool fail_expected(std::string_view wanted);

  /// Skips blanks, line breaks and comments ("# ..." to the end of the line).
  void skip_blanks();
  /// The offset of the next token.
  std::size_t offset();
  bool at_end();
  bool at(std::string_view symbol);
  /// Whether exactly this word comes next.
  bool at_word(std::string_view word);

  /// Consumes `symbol` if it comes next.
  bool take(std::string_view symbol);
  bool take_word(std::string_view word);
  /// Consumes `symbol`, or fails.
  bool expect(std::string_view symbol);
  bool expect_word(std::string_view word);

  /// A name such as `prim::FusionGroup_0` or `__torch__.Net`; empty if none comes next.
  std::string_view take_name();
  /// A value's name without its `%`; empty if none comes next.
  std::string_view take_value();
  /// The text up to the closing bracket, which is not consumed; a run of blanks outside strings
  /// becomes one. With `stop_at_comma` it also ends at a comma outside brackets, if a name and `=`
  /// follow.
  std::string take_raw(bool stop_at_comma);
  /// Skips the rest of the line, up to a comment.
  void skip_line();

private:
  char peek(std::size_t ahead = 0) const noexcept {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool take_string(std::string& out);
  bool member_follows() const;

  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<error> failure_;
};

} // namespace hearth::graphs
