#include "messages/guard/lexer.hpp"

#include "messages/hex.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace hearth::guards {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool starts_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool continues_word(char c) { return starts_word(c) || is_digit(c); }
constexpr bool is_line_break(char c) { return c == '\n' || c == '\r'; }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }
constexpr bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

std::size_t word_size(std::string_view text) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), continues_word) -
                                  text.begin());
}

// The value of a digit, or 16 if the character is not a digit in any base.
unsigned digit_value(char c) {
  const int worth = hex_digit(c);
  return worth < 0 ? 16 : static_cast<unsigned>(worth);
}

unsigned base_of_prefix(char c) {
  switch (c) {
  case 'x':
  case 'X': return 16;
  case 'o':
  case 'O': return 8;
  case 'b':
  case 'B': return 2;
  default: return 0;
  }
}

struct digits {
  std::size_t size = 0;    // bytes, including underscores
  std::uint64_t value = 0; // at most 2^64 - 1
  bool good = false;       // at least one digit, underscores only in front of digits
};

// Reads digits with single underscores between them.
digits read_digits(std::string_view text, unsigned base) {
  constexpr auto max = std::numeric_limits<std::uint64_t>::max();
  digits read;
  for (; read.size < text.size(); ++read.size) {
    const char c = text[read.size];
    if (c == '_' && read.good) {
      read.good = false;
      continue;
    }
    const unsigned worth = digit_value(c);
    if (c == '_' || worth >= base) break;
    read.good = true;
    read.value = read.value > (max - worth) / base ? max : read.value * base + worth;
  }
  return read;
}

// Python lets `and` and `or` follow a number without a blank.
bool may_follow_number(std::string_view rest) {
  const bool more = !rest.empty() && (continues_word(rest[0]) || (rest[0] & 0x80) != 0);
  return !more || rest.starts_with("and") || rest.starts_with("or");
}

} // namespace

std::string at_column(std::string_view text, std::size_t offset, std::string_view what) {
  return "column " + std::to_string(column_of(text, offset)) + ": " + std::string(what);
}

bool is_keyword(std::string_view word) {
  constexpr std::array<std::string_view, 35> keywords{
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
  return std::find(keywords.begin(), keywords.end(), word) != keywords.end();
}

expected<token> lexer::next() {
  if (!skip_blanks()) return malformed(at_, "a line break outside of brackets");
  const auto rest = text_.substr(at_);
  if (rest.empty()) return take(token_kind::end, 0);
  begun_ = true;
  if (is_digit(rest[0])) return number();
  if (starts_word(rest[0])) {
    const auto size = word_size(rest);
    if (rest.size() > size && (rest[size] == '\'' || rest[size] == '"'))
      return malformed(at_, "text with the prefix " + in_quotes(rest.substr(0, size)) +
                                " is not part of a name");
    return take(token_kind::word, size);
  }
  if (rest[0] == '\'' || rest[0] == '"') return quoted_text();
  return symbol();
}

bool lexer::skip_blanks() {
  std::optional<std::size_t> broken; // a line break after which the text must end
  for (; at_ < text_.size() && (is_blank(peek()) || is_line_break(peek())); ++at_) {
    if (is_line_break(peek()) && begun_ && open_brackets_ == 0 && !broken) broken = at_;
  }
  if (!broken || at_ == text_.size()) return true;
  at_ = *broken;
  return false;
}

expected<token> lexer::number() {
  const auto rest = text_.substr(at_);
  const unsigned prefixed = rest[0] == '0' ? base_of_prefix(peek(1)) : 0;
  const std::size_t prefix = prefixed == 0 ? 0 : 2;
  // An underscore may follow the prefix, too.
  const std::size_t skipped = prefix + (prefixed != 0 && peek(2) == '_' ? 1 : 0);
  const auto read = read_digits(rest.substr(skipped), prefixed == 0 ? 10 : prefixed);
  const auto size = skipped + read.size;
  const auto after = rest.substr(size);
  const auto whole = in_quotes(rest.substr(0, size + word_size(after)));
  if (prefixed == 0 && read.good && !after.empty() &&
      (after[0] == '.' ||
       ((after[0] == 'e' || after[0] == 'E' || after[0] == 'j' || after[0] == 'J') &&
        !after.starts_with("else"))))
    return malformed(at_, "a real number; only integers are known");
  if (!read.good || !may_follow_number(after)) return malformed(at_, whole + " is no number");
  if (prefixed == 0 && rest[0] == '0' && read.value != 0)
    return malformed(at_, whole + " has zeros in front; write 0o for octal");
  auto taken = take(token_kind::number, size);
  taken.value = read.value;
  return taken;
}

expected<token> lexer::quoted_text() {
  const char quote = peek();
  for (std::size_t size = 1; at_ + size < text_.size(); ++size) {
    const char c = peek(size);
    if (is_line_break(c)) break;
    if (c == '\\') ++size;
    if (c == quote) return take(token_kind::text, size + 1);
  }
  return malformed(at_, "text without its closing quote");
}

expected<token> lexer::symbol() {
  constexpr std::array<std::string_view, 16> known{"**", "//", "<=", ">=", "==", "!=", "+", "-",
                                                   "*",  "%",  "<",  ">",  "(",  ")",  "[", "]"};
  const auto rest = text_.substr(at_);
  for (const auto name : known) {
    if (!rest.starts_with(name)) continue;
    if (name == "(" || name == "[") ++open_brackets_;
    if ((name == ")" || name == "]") && open_brackets_ > 0) --open_brackets_;
    return take(token_kind::symbol, name.size());
  }
  if (rest[0] == ',' || rest[0] == '.') return take(token_kind::symbol, 1);
  if (rest[0] == '/') return malformed(at_, "'/' gives a real number; write '//'");
  std::size_t size = 1;
  while (size < rest.size() && !starts_character(rest[size]))
    ++size;
  return malformed(at_, in_quotes(rest.substr(0, size)) + " is not part of the guard language");
}

token lexer::take(token_kind kind, std::size_t size) {
  const token taken{kind, text_.substr(at_, size), at_, 0};
  at_ += size;
  return taken;
}

} // namespace hearth::guards
