#include "messages/toml_depth.hpp"

#include <algorithm>

namespace hearth {
namespace {

// Where the string that begins here ends; the text's size when it does not.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  const char quote = text[begin];
  const auto rest = text.substr(begin);
  const bool is_long = rest.starts_with(quote == '"' ? "\"\"\"" : "'''");
  const auto is_end = [&](std::size_t at) {
    if (!is_long) return text[at] == quote || text[at] == '\n';
    return text[at] == quote && at + 2 < text.size() && text[at + 1] == quote &&
           text[at + 2] == quote;
  };
  for (auto at = begin + (is_long ? 3 : 1); at < text.size(); ++at) {
    if (text[at] == '\\' && quote == '"')
      ++at;
    else if (is_end(at))
      return text[at] == '\n' ? at : at + (is_long ? 3 : 1);
  }
  return text.size();
}

} // namespace

std::size_t line_of_deep_toml_key(std::string_view text) {
  std::size_t line = 1, dots = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      const auto end = end_of_string(text, at);
      line += static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                                  text.begin() + static_cast<std::ptrdiff_t>(end),
                                                  '\n'));
      at = end;
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '.') {
      if (++dots >= max_toml_key_parts) return line;
    } else if (c == '\n' || c == ',' || c == '=' || c == '[' || c == '{') {
      dots = 0;
      if (c == '\n') ++line;
    }
    ++at;
  }
  return 0;
}

} // namespace hearth
