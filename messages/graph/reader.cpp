#include "messages/graph/reader.hpp"

#include "messages/source_place.hpp"

#include <algorithm>

namespace hearth::graphs {
namespace {

constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool continues_name(char c) { return starts_name(c) || is_digit(c); }
constexpr bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
constexpr bool closes(char c) { return c == ')' || c == ']' || c == '}'; }
constexpr char closing_of(char c) { return c == '(' ? ')' : c == '[' ? ']' : '}'; }

} // namespace

bool reader::fail_at(std::size_t offset, std::string_view what, errc code) {
  if (!failure_) failure_ = error{code, line_and_column(text_, offset) + ": " + std::string(what)};
  at_ = text_.size();
  return false;
}

bool reader::fail_expected(std::string_view wanted) {
  skip_blanks();
  auto rest = text_.substr(at_);
  rest = rest.substr(0, rest.find('\n'));
  const auto found = rest.empty() ? std::string("the end") : in_quotes(rest.substr(0, 20));
  return fail_at(at_, "expected " + std::string(wanted) + ", found " + found);
}

void reader::skip_blanks() {
  for (; at_ < text_.size(); ++at_) {
    if (peek() == '#')
      at_ = std::min(text_.find('\n', at_), text_.size() - 1);
    else if (!is_blank(peek()))
      return;
  }
}

std::size_t reader::offset() {
  skip_blanks();
  return at_;
}

bool reader::at_end() {
  skip_blanks();
  return at_ == text_.size();
}

bool reader::at(std::string_view symbol) {
  skip_blanks();
  return text_.substr(at_).starts_with(symbol);
}

bool reader::at_word(std::string_view word) {
  return at(word) && !continues_name(peek(word.size()));
}

bool reader::take(std::string_view symbol) {
  if (!at(symbol)) return false;
  at_ += symbol.size();
  return true;
}

bool reader::take_word(std::string_view word) {
  if (!at_word(word)) return false;
  at_ += word.size();
  return true;
}

bool reader::expect(std::string_view symbol) {
  return take(symbol) || fail_expected("'" + std::string(symbol) + "'");
}

bool reader::expect_word(std::string_view word) {
  return take_word(word) || fail_expected("'" + std::string(word) + "'");
}

std::string_view reader::take_name() {
  skip_blanks();
  const auto begin = at_;
  while (starts_name(peek())) {
    while (continues_name(peek()))
      ++at_;
    const std::size_t joint = peek() == '.' ? 1 : peek() == ':' && peek(1) == ':' ? 2 : 0;
    if (joint == 0 || !starts_name(peek(joint))) break;
    at_ += joint;
  }
  return text_.substr(begin, at_ - begin);
}

std::string_view reader::take_value() {
  if (!at("%")) return {};
  const auto begin = at_ + 1;
  auto end = begin;
  while (end < text_.size() &&
         (continues_name(text_[end]) || text_[end] == '.' || (text_[end] & 0x80) != 0))
    ++end;
  if (end == begin) return {};
  at_ = end;
  return text_.substr(begin, end - begin);
}

bool reader::take_string(std::string& out) {
  const auto begin = at_;
  const char quote = peek();
  do {
    if (peek() == '\\' && at_ + 1 < text_.size()) out += text_[at_++];
    out += text_[at_++];
    if (at_ >= text_.size()) return fail_at(begin, "a string that does not end");
  } while (peek() != quote);
  out += text_[at_++];
  return true;
}

// Whether `, name =` comes next; then the comma ends an attribute.
bool reader::member_follows() const {
  reader ahead(text_);
  ahead.at_ = at_ + 1;
  return !ahead.take_name().empty() && ahead.at("=") && !ahead.at("==");
}

std::string reader::take_raw(bool stop_at_comma) {
  std::string out;
  std::string open;
  const auto begin = offset();
  while (at_ < text_.size()) {
    const char c = peek();
    if (closes(c) && open.empty()) break;
    if (c == ',' && open.empty() && stop_at_comma && member_follows()) break;
    if (closes(c) && open.back() != c) {
      fail_at(at_, std::string("expected '") + open.back() + "', found '" + c + "'");
      return {};
    }
    if (c == '"' || c == '\'') {
      if (!take_string(out)) return {};
      continue;
    }
    if (opens(c)) open += closing_of(c);
    if (closes(c)) open.pop_back();
    if (!is_blank(c))
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
    ++at_;
  }
  if (at_ >= text_.size()) fail_at(begin, "a bracket that is not closed after this");
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

void reader::skip_line() {
  while (at_ < text_.size() && peek() != '\n' && peek() != '#')
    ++at_;
}

} // namespace hearth::graphs
