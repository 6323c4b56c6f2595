#include "runtime/launcher/response_file.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hearth::launcher {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Bytes that one compiler takes as white space and another does not.
bool has_unclear_bytes(std::string_view text) {
  constexpr std::string_view unclear("\0\v\f", 3);
  constexpr std::string_view byte_order_marks = "\xef\xfe\xff";
  return text.find_first_of(unclear) != text.npos ||
         (!text.empty() && byte_order_marks.find(text.front()) != byte_order_marks.npos);
}

// Splits a text from left to right. Each `take_...` returns false where compilers differ.
class response_splitter {
public:
  explicit response_splitter(std::string_view text)
      : rest_(text) {}

  // Skips white space. Returns whether an argument follows.
  bool find_argument() {
    while (!rest_.empty() && is_space(rest_.front()))
      rest_.remove_prefix(1);
    return !rest_.empty();
  }

  bool take_argument(std::string& argument) {
    while (!rest_.empty() && !is_space(rest_.front()))
      if (!take_part(argument)) return false;
    return !argument.empty() && argument.size() <= max_argument_bytes;
  }

private:
  bool take_part(std::string& argument) {
    const char c = take();
    if (c == '\'') return take_single_quoted(argument);
    if (c == '"') return take_double_quoted(argument);
    if (c != '\\') return argument += c, true;
    if (rest_.empty() || rest_.front() == '\n' || rest_.front() == '\r') return false;
    return argument += take(), true;
  }

  bool take_single_quoted(std::string& argument) {
    const auto end = rest_.find('\'');
    if (end == rest_.npos) return false;
    const auto quoted = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    argument += quoted;
    return quoted.find('\\') == quoted.npos;
  }

  bool take_double_quoted(std::string& argument) {
    while (!rest_.empty()) {
      char c = take();
      if (c == '"') return true;
      if (c == '\\') {
        if (rest_.empty() || (rest_.front() != '"' && rest_.front() != '\\')) return false;
        c = take();
      }
      argument += c;
    }
    return false;
  }

  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  std::string_view rest_;
};

// Expands arguments in order; remembers how many bytes all files had.
class expander {
public:
  explicit expander(const file_reader& read)
      : read_(read) {}

  bool expand(std::vector<std::string> arguments, int depth) {
    for (auto& argument : arguments) {
      if (!argument.starts_with('@')) {
        expanded.push_back(std::move(argument));
      } else if (!expand_file(argument, depth)) {
        if (refused.empty()) refused = std::move(argument);
        return false;
      }
    }
    return true;
  }

  std::vector<std::string> expanded;
  std::string refused;

private:
  bool expand_file(const std::string& argument, int depth) {
    if (depth == max_response_depth) return false;
    const auto text = read_(argument.substr(1));
    if (!text || text->size() > max_response_bytes - bytes_) return false;
    bytes_ += text->size();
    auto inner = split_response(*text);
    return inner && expand(std::move(*inner), depth + 1);
  }

  const file_reader& read_;
  std::size_t bytes_ = 0;
};

} // namespace

std::optional<std::vector<std::string>> split_response(std::string_view text) {
  if (has_unclear_bytes(text)) return std::nullopt;
  std::vector<std::string> all;
  for (response_splitter splitter(text); splitter.find_argument();)
    if (!splitter.take_argument(all.emplace_back())) return std::nullopt;
  return all;
}

tl::expected<std::vector<std::string>, refusal>
expand_response_files(std::vector<std::string> arguments, const file_reader& read) {
  const bool has_any = std::any_of(arguments.begin(), arguments.end(),
                                   [](const auto& one) { return one.starts_with('@'); });
  if (!has_any) return arguments;
  expander all(read);
  if (!all.expand(std::move(arguments), 0))
    return tl::unexpected(refusal{uncached::bad_response_file, std::move(all.refused)});
  return std::move(all.expanded);
}

} // namespace hearth::launcher
