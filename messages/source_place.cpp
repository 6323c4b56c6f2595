#include "messages/source_place.hpp"

#include "messages/hex.hpp"

#include <algorithm>

namespace hearth {
namespace {

constexpr bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

void append_in_one_line(std::string& line, std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f)
      line += c;
    else
      append_hex_escape(line, c);
}

} // namespace

std::size_t column_of(std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, offset);
  return 1 +
         static_cast<std::size_t>(std::count_if(before.begin(), before.end(), starts_character));
}

std::string line_and_column(std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto last_break = before.rfind('\n');
  const auto start = last_break == std::string_view::npos ? 0 : last_break + 1;
  return "line " + std::to_string(line) + ", column " +
         std::to_string(column_of(text.substr(start), offset - start));
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t max = 40;
  auto end = std::min(text.size(), max);
  while (end < text.size() && !starts_character(text[end]))
    --end;
  std::string result = "'";
  append_in_one_line(result, text.substr(0, end));
  return result + (end < text.size() ? "...'" : "'");
}

error error_at(std::string_view file, std::size_t line, std::string_view member, errc code,
               std::string_view what) {
  std::string text;
  append_in_one_line(text, file);
  if (line != 0) text += ":" + std::to_string(line);
  text += ": ";
  if (!member.empty()) {
    append_in_one_line(text, member);
    text += ": ";
  }
  append_in_one_line(text, what);
  return {code, std::move(text)};
}

} // namespace hearth
