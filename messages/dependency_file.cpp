#include "messages/dependency_file.hpp"

#include <algorithm>
#include <unordered_set>

namespace hearth {
namespace {

// Reads words of one rule, which ends with its line.
class rule_reader {
public:
  explicit rule_reader(std::string_view text)
      : text_(text) {}

  bool is_at_end() const { return at_ >= text_.size(); }
  bool is_at_line_end() const { return is_at_end() || text_[at_] == '\n'; }

  void skip_blanks() {
    while (!is_at_end() && (is_blank(text_[at_]) || continues()))
      at_ += continues() ? continuation() : 1;
  }
  void skip_line_end() {
    if (!is_at_end()) ++at_;
  }

  // A word; a target's colon is a word of its own.
  std::string word() {
    if (is_colon()) return ++at_, ":";
    std::string result;
    while (!is_at_line_end() && !is_blank(text_[at_]) && !continues() && !is_colon())
      result += next_character();
    return result;
  }

private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  char after(std::size_t distance) const {
    return at_ + distance < text_.size() ? text_[at_ + distance] : '\n';
  }
  std::size_t continuation() const {
    if (text_[at_] != '\\') return 0;
    if (after(1) == '\n') return 2;
    return after(1) == '\r' && after(2) == '\n' ? 3 : 0;
  }
  bool continues() const { return !is_at_end() && continuation() != 0; }
  // Inside of a name (c:/x) it is none.
  bool is_colon() const {
    return text_[at_] == ':' && (is_blank(after(1)) || after(1) == '\n' || after(1) == '\\');
  }
  char next_character() {
    const char c = text_[at_];
    const bool escapes = (c == '\\' && (after(1) == ' ' || after(1) == '#' || after(1) == ':')) ||
                         (c == '$' && after(1) == '$');
    at_ += escapes ? 2 : 1;
    return escapes ? text_[at_ - 1] : c;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

} // namespace

expected<std::vector<std::string>> read_dependencies(std::string_view text) {
  std::vector<std::string> all;
  std::unordered_set<std::string> seen;
  rule_reader rules(text);
  while (!rules.is_at_end()) {
    bool is_behind_colon = false;
    bool is_empty = true;
    for (rules.skip_blanks(); !rules.is_at_line_end(); rules.skip_blanks()) {
      auto word = rules.word();
      is_empty = false;
      if (is_behind_colon && seen.insert(word).second)
        all.push_back(std::move(word));
      else if (word == ":")
        is_behind_colon = true;
    }
    if (!is_empty && !is_behind_colon)
      return fail(errc::malformed, "a line of a dependency file that is no rule");
    rules.skip_line_end();
  }
  return all;
}

} // namespace hearth
