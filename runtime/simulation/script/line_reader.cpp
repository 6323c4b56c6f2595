#include "runtime/simulation/script/line_reader.hpp"

#include "messages/hex.hpp"
#include "messages/time_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace hearth::script {
namespace {

template <class T>
std::optional<T> number_of(std::string_view text, std::string_view& unit) {
  T number{};
  const auto* end = text.data() + text.size();
  const auto [at, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc{}) return std::nullopt;
  unit = {at, static_cast<std::size_t>(end - at)};
  return number;
}

template <std::size_t N>
std::optional<std::uint64_t>
scaled(std::string_view text,
       const std::array<std::pair<std::string_view, std::uint64_t>, N>& units) {
  std::string_view unit;
  const auto number = number_of<std::uint64_t>(text, unit);
  if (!number) return std::nullopt;
  for (const auto& [name, factor] : units)
    if (unit == name && *number <= (std::uint64_t{1} << 62) / factor) return *number * factor;
  return std::nullopt;
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

} // namespace

std::optional<std::uint64_t> size_of(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 4> units{
      {{"", 1}, {"KiB", 1u << 10}, {"MiB", 1u << 20}, {"GiB", 1u << 30}}};
  return scaled(text, units);
}

line_reader::line_reader(std::string where, std::string_view text)
    : where_(std::move(where))
    , text_(text) {}

void line_reader::skip_spaces() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t'))
    ++at_;
}

bool line_reader::at_end() {
  skip_spaces();
  return at_ == text_.size();
}

std::size_t line_reader::column() {
  skip_spaces();
  return at_ + 1;
}

std::string_view line_reader::peek_word() {
  skip_spaces();
  const auto end = text_.find_first_of(" \t\"", at_);
  return text_.substr(at_, end == std::string_view::npos ? end : end - at_);
}

bool line_reader::accept(std::string_view word) {
  if (peek_word() != word) return false;
  at_ += word.size();
  return true;
}

void line_reader::expect_word(std::string_view word) {
  if (!accept(word)) fail("'" + std::string(word) + "'");
}

std::string line_reader::take_word(std::string_view what) {
  const auto word = peek_word();
  if (word.empty()) fail(what);
  at_ += word.size();
  return std::string(word);
}

std::string line_reader::take_name(std::string_view what) {
  const auto word = peek_word();
  if (word.empty() || !std::all_of(word.begin(), word.end(), is_name_character)) fail(what);
  return take_word(what);
}

bool line_reader::at_string() {
  skip_spaces();
  return at_ < text_.size() && text_[at_] == '"';
}

std::string line_reader::take_string(std::string_view what) {
  if (!at_string()) fail(what);
  const auto begin = at_++;
  std::string bytes;
  while (at_ < text_.size() && text_[at_] != '"') {
    char c = text_[at_++];
    if (c == '\\' && at_ < text_.size()) {
      c = text_[at_++];
      if (c == 'n') c = '\n';
      if (c == 't') c = '\t';
      if (c == 'x') {
        const int high = at_ + 1 < text_.size() ? hex_digit(text_[at_]) : -1;
        const int low = at_ + 1 < text_.size() ? hex_digit(text_[at_ + 1]) : -1;
        if (high < 0 || low < 0) fail_at(at_, "expected two hex digits after \\x");
        c = static_cast<char>(high * 16 + low);
        at_ += 2;
      }
    }
    bytes += c;
  }
  if (at_ == text_.size()) fail_at(begin + 1, "expected a closing quote for this one");
  ++at_;
  return bytes;
}

std::uint64_t line_reader::take_number(std::string_view what) {
  std::string_view unit;
  const auto number = number_of<std::uint64_t>(peek_word(), unit);
  if (!number || !unit.empty()) fail(what);
  take_word(what);
  return *number;
}

std::int64_t line_reader::take_integer(std::string_view what) {
  std::string_view unit;
  const auto number = number_of<std::int64_t>(peek_word(), unit);
  if (!number || !unit.empty()) fail(what);
  take_word(what);
  return *number;
}

std::uint64_t line_reader::take_size(std::string_view what) {
  const auto size = size_of(peek_word());
  if (!size) fail(what);
  take_word(what);
  return *size;
}

std::chrono::nanoseconds line_reader::take_duration(std::string_view what) {
  const auto time = parse_time(peek_word());
  if (!time) fail(what);
  take_word(what);
  return *time;
}

std::string line_reader::take_rest(std::string_view what) {
  if (at_end()) fail(what);
  const auto end = text_.find_last_not_of(" \t");
  auto rest = std::string(text_.substr(at_, end + 1 - at_));
  at_ = text_.size();
  return rest;
}

void line_reader::expect_end() {
  if (!at_end()) fail("the end of the line");
}

void line_reader::fail(std::string_view expected) {
  const auto word = peek_word();
  std::string got = "the line ends here";
  if (!word.empty())
    got = "got '" + std::string(word) + "'";
  else if (at_string())
    got = "got a text";
  fail_at(column(), "expected " + std::string(expected) + ", " + got);
}

void line_reader::fail_at(std::size_t column, std::string_view problem) const {
  throw syntax_error{where_ + ":" + std::to_string(column) + ": " + std::string(problem)};
}

} // namespace hearth::script
