#include "messages/autotune/comments.hpp"

#include "messages/digest.hpp"
#include "messages/key_builder.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <utility>

namespace hearth {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Walks over code and keeps everything except comments.
class stripper {
public:
  explicit stripper(std::string_view code, bool joins_blanks = false)
      : code_(code)
      , joins_blanks_(joins_blanks) {}

  std::string strip_hash() {
    while (!at_end()) {
      if (peek() == '#')
        skip_line();
      else if (peek() == '"' || peek() == '\'')
        keep_hash_string();
      else
        keep(1);
    }
    return std::move(out_);
  }

  std::string strip_slashes() {
    while (!at_end()) {
      if (joins_blanks_ && is_blank(peek()))
        join_blank(code_[at_++]);
      else if (joins_blanks_ && starts_with("\\\n"))
        join_lines();
      else if (starts_with("//"))
        skip_spliced_line();
      else if (starts_with("/*"))
        skip_block();
      else if (peek() == '"')
        keep_slashes_string();
      else if (peek() == '\'' && !is_digit_separator())
        keep_quoted("'");
      else
        keep(1);
    }
    return std::move(out_);
  }

private:
  bool at_end() const { return at_ == code_.size(); }
  char peek() const { return code_[at_]; }
  bool starts_with(std::string_view text) const { return code_.substr(at_).starts_with(text); }
  void keep(std::size_t count) {
    count = std::min(count, code_.size() - at_);
    out_ += code_.substr(at_, count);
    at_ += count;
  }

  void skip_line() { at_ = std::min(code_.find('\n', at_), code_.size()); }

  // A backslash before the end of the line makes the next one part of the comment.
  void skip_spliced_line() {
    skip_line();
    while (!at_end() && at_ >= 1 && is_spliced()) {
      ++at_;
      skip_line();
    }
  }
  bool is_spliced() const {
    const auto before = code_.substr(0, at_);
    return before.ends_with('\\') || before.ends_with("\\\r");
  }

  void skip_block() {
    constexpr std::size_t mark = 2;
    const auto end = code_.find("*/", at_ + mark);
    at_ = end == std::string_view::npos ? code_.size() : end + mark;
    if (joins_blanks_)
      join_blank(' ');
    else
      out_ += ' ';
  }

  static bool is_blank(char c) {
    return std::string_view(" \t\n\v\f\r").find(c) != std::string_view::npos;
  }
  // A backslash at the end of a line makes one of it and the next.
  void join_lines() {
    at_ += 2;
    join_blank(' ');
  }
  // Adds a blank to those at the end. A string, which may end in one, is kept with its quotes.
  void join_blank(char c) {
    if (out_.empty() || out_.back() == '\n') return;
    if (out_.back() != ' ')
      out_ += c == '\n' ? '\n' : ' ';
    else if (c == '\n')
      out_.back() = '\n';
  }

  // Goes to the closing quote. A string without one ends at the end of the line, as for a compiler.
  void keep_quoted(std::string_view quote) {
    const bool is_long = quote.size() == 3;
    keep(quote.size());
    while (!at_end() && !starts_with(quote)) {
      if (peek() == '\n' && !is_long) return;
      keep(peek() == '\\' ? 2 : 1);
    }
    keep(quote.size());
  }

  void keep_hash_string() {
    const auto quote = code_.substr(at_, 1);
    const auto three = code_.substr(at_, 3);
    const bool is_long = three == "\"\"\"" || three == "'''";
    keep_quoted(is_long ? three : quote);
  }

  void keep_slashes_string() {
    if (at_ == 0 || code_[at_ - 1] != 'R' || !is_raw_prefix()) return keep_quoted("\"");
    const auto open = code_.find('(', at_);
    constexpr std::size_t longest_delimiter = 16;
    if (open == std::string_view::npos || open - at_ - 1 > longest_delimiter)
      return keep_quoted("\"");
    const auto closing = ")" + std::string(code_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const auto end = code_.find(closing, open);
    keep(end == std::string_view::npos ? code_.size() - at_ : end + closing.size() - at_);
  }

  // R, LR, uR, UR and u8R are prefixes; an R at the end of another word is not.
  bool is_raw_prefix() const {
    auto begin = at_;
    while (begin > 0 && is_word(code_[begin - 1]))
      --begin;
    constexpr std::array<std::string_view, 5> prefixes{"R", "LR", "uR", "UR", "u8R"};
    const auto word = code_.substr(begin, at_ - begin);
    return std::find(prefixes.begin(), prefixes.end(), word) != prefixes.end();
  }

  // 1'000: a quote in a number, which is a word that begins with a digit.
  bool is_digit_separator() const {
    auto begin = at_;
    while (begin > 0 && (is_word(code_[begin - 1]) || code_[begin - 1] == '\''))
      --begin;
    return begin < at_ && std::isdigit(static_cast<unsigned char>(code_[begin])) != 0;
  }

  std::string_view code_;
  bool joins_blanks_;
  std::size_t at_ = 0;
  std::string out_;
};

} // namespace

comment_syntax comment_syntax_of(std::string_view language) noexcept {
  constexpr std::array<std::string_view, 8> with_hash{"python", ".py", "toml", ".toml",
                                                      "shell",  ".sh", "yaml", ".yaml"};
  constexpr std::array<std::string_view, 14> with_slashes{"c",    ".c",   "c++",    ".cpp", ".cc",
                                                          ".hpp", ".h",   "cuda",   ".cu",  ".cuh",
                                                          "hip",  ".hip", "opencl", ".cl"};
  if (std::find(with_hash.begin(), with_hash.end(), language) != with_hash.end())
    return comment_syntax::hash;
  if (std::find(with_slashes.begin(), with_slashes.end(), language) != with_slashes.end())
    return comment_syntax::slashes;
  return comment_syntax::none;
}

std::string strip_comments(std::string_view code, comment_syntax syntax) {
  switch (syntax) {
  case comment_syntax::hash: return stripper(code).strip_hash();
  case comment_syntax::slashes: return stripper(code).strip_slashes();
  case comment_syntax::none: break;
  }
  return std::string(code);
}

std::string normal_code(std::string_view code, comment_syntax syntax) {
  if (syntax != comment_syntax::slashes) return strip_comments(code, syntax);
  auto text = stripper(code, true).strip_slashes();
  while (text.ends_with(' ') || text.ends_with('\n'))
    text.pop_back();
  return text;
}

std::string comment_stripped_hash(std::string_view code, comment_syntax syntax) {
  return "c" + short_base32(sha256(strip_comments(code, syntax)));
}

} // namespace hearth
