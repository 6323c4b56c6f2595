#include "storage/resp/resp_words.hpp"

#include "messages/hex.hpp"

#include <charconv>

namespace hearth::storage {
namespace {

using kind = resp_value::kind;

resp_value text_value(kind type, std::string_view text) {
  resp_value value;
  value.type = type;
  value.text = text;
  return value;
}

std::optional<resp_value> integer_value(kind type, std::optional<std::int64_t> number) {
  if (!number) return {};
  resp_value value;
  value.type = type;
  value.integer = *number;
  return value;
}

std::optional<resp_value> parse_real(std::string_view text) {
  resp_value value;
  value.type = kind::real;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value.real);
  if (text.empty() || parsed.ec == std::errc::invalid_argument || parsed.ptr != end) return {};
  return value;
}

std::optional<resp_value> parse_boolean(std::string_view text) {
  if (text != "t" && text != "f") return {};
  return integer_value(kind::boolean, text == "t");
}

std::optional<resp_value> parse_big_number(std::string_view text) {
  const auto digits = text.substr(text.starts_with('-') || text.starts_with('+') ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) return {};
  return text_value(kind::big_number, text);
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

char escaped(char c) {
  switch (c) {
  case 'n': return '\n';
  case 'r': return '\r';
  case 't': return '\t';
  case 'b': return '\b';
  case 'a': return '\a';
  default: return c;
  }
}

// Takes an escape such as `xHH` or `n`, whose backslash is consumed already, from the front.
char take_escape(std::string_view& text) {
  if (text.size() >= 3 && text[0] == 'x')
    if (const auto byte = hex_byte(text[1], text[2])) {
      text.remove_prefix(3);
      return *byte;
    }
  const char c = escaped(text.front());
  text.remove_prefix(1);
  return c;
}

// Takes the text up to the closing `quote`, which must exist and end the word.
bool take_quoted(std::string_view& text, char quote, std::string& word) {
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c == quote) return text.empty() || is_blank(text.front());
    if (c != '\\' || text.empty())
      word += c;
    else if (quote == '"')
      word += take_escape(text);
    else if (text.front() == '\'') {
      word += '\'';
      text.remove_prefix(1);
    } else
      word += c;
  }
  return false;
}

bool take_word(std::string_view& text, std::string& word) {
  while (!text.empty() && !is_blank(text.front())) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c == '"' || c == '\'') {
      if (!take_quoted(text, c, word)) return false;
    } else {
      word += c;
    }
  }
  return true;
}

} // namespace

std::optional<std::int64_t> parse_integer(std::string_view digits) {
  if (digits.starts_with('+')) {
    digits.remove_prefix(1);
    if (digits.starts_with('-')) return {};
  }
  std::int64_t number = 0;
  const auto* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, number);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return {};
  return number;
}

std::optional<std::int64_t> parse_canonical_integer(std::string_view digits) {
  const auto first = digits.substr(digits.starts_with('-') ? 1 : 0);
  if (digits.starts_with('+') || (first.starts_with('0') && digits != "0")) return {};
  return parse_integer(digits);
}

std::optional<resp_value> parse_scalar(std::string_view line) {
  const auto rest = line.substr(1);
  switch (line.front()) {
  case '+': return text_value(kind::text, rest);
  case '-': return text_value(kind::error, rest);
  case ':': return integer_value(kind::integer, parse_integer(rest));
  case ',': return parse_real(rest);
  case '#': return parse_boolean(rest);
  case '(': return parse_big_number(rest);
  case '_': return rest.empty() ? std::optional(resp_value{}) : std::nullopt;
  default: return {};
  }
}

std::optional<std::vector<std::string>> split_words(std::string_view line) {
  std::vector<std::string> words;
  for (;;) {
    while (!line.empty() && is_blank(line.front()))
      line.remove_prefix(1);
    if (line.empty()) return words;
    if (!take_word(line, words.emplace_back())) return {};
  }
}

} // namespace hearth::storage
