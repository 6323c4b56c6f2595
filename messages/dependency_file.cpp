#include "messages/dependency_file.hpp"

#include <algorithm>
#include <unordered_set>

namespace hearth {
namespace {

// Reads rules from left to right.
class rule_reader {
public:
  explicit rule_reader(std::string_view text)
      : rest_(text) {}

  bool is_at_end() const { return rest_.empty(); }
  bool is_at_line_end() const { return is_at_end() || line_end_at(0) > 0; }
  void skip_line_end() { rest_.remove_prefix(line_end_at(0)); }
  void skip_blanks() {
    while (!is_at_end() && (is_blank(rest_.front()) || continuation() > 0))
      rest_.remove_prefix(std::max<std::size_t>(continuation(), 1));
  }

  // Skips a rule's targets and the colon after them. Returns false if the colon is missing.
  bool skip_targets() {
    bool has_targets = false;
    for (skip_blanks(); !is_at_line_end(); skip_blanks()) {
      if (is_at_colon()) return rest_.remove_prefix(1), true;
      for (std::string target; !is_at_name_end() && !is_at_colon();)
        take_part(target);
      has_targets = true;
    }
    return !has_targets;
  }

  // Reads the name at the current position, which is after the colon.
  std::string name() {
    std::string name;
    while (!is_at_name_end())
      take_part(name);
    return name;
  }

private:
  static bool is_blank(char c) { return c == ' ' || c == '\t'; }
  std::size_t line_end_at(std::size_t i) const {
    const auto from = rest_.substr(std::min(i, rest_.size()));
    if (from.starts_with('\n')) return 1;
    return from.starts_with("\r\n") ? 2 : 0;
  }
  // The length of a backslash and the line end after it; 0 if there is none.
  std::size_t continuation() const {
    return rest_.starts_with('\\') && line_end_at(1) > 0 ? 1 + line_end_at(1) : 0;
  }
  bool is_at_name_end() const {
    return is_at_line_end() || is_blank(rest_.front()) || continuation() > 0;
  }
  // A colon inside a name (c:/x) does not end the targets.
  bool is_at_colon() const {
    if (!rest_.starts_with(':')) return false;
    return rest_.size() == 1 || is_blank(rest_[1]) || rest_[1] == '\\' || line_end_at(1) > 0;
  }

  void take_part(std::string& name) {
    if (rest_.front() == '\\') return take_backslashes(name);
    if (rest_.starts_with("$$")) rest_.remove_prefix(1);
    name += rest_.front();
    rest_.remove_prefix(1);
  }
  // Takes a run of backslashes and the character that the last one escapes. Backslashes before
  // white space are doubled.
  void take_backslashes(std::string& name) {
    auto run = std::min(rest_.find_first_not_of('\\'), rest_.size());
    if (line_end_at(run) > 0) --run; // the last one continues the rule
    const char next = run < rest_.size() ? rest_[run] : '\0';
    const bool is_doubled = is_blank(next);
    const bool escapes = is_doubled ? run % 2 == 1 : next == '#' || next == ':';
    name.append(is_doubled ? run / 2 : run - (escapes ? 1 : 0), '\\');
    if (escapes) name += next;
    rest_.remove_prefix(run + (escapes ? 1 : 0));
  }

  std::string_view rest_;
};

} // namespace

expected<std::vector<std::string>> read_dependencies(std::string_view text) {
  std::vector<std::string> all;
  std::unordered_set<std::string> seen;
  rule_reader rules(text);
  while (!rules.is_at_end()) {
    if (!rules.skip_targets())
      return fail(errc::malformed, "a line of the dependency file is not a make rule");
    for (rules.skip_blanks(); !rules.is_at_line_end(); rules.skip_blanks())
      if (auto name = rules.name(); seen.insert(name).second) all.push_back(std::move(name));
    rules.skip_line_end();
  }
  return all;
}

} // namespace hearth
