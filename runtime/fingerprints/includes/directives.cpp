#include "runtime/fingerprints/includes/directives.hpp"

#include "messages/hash.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace hearth::fingerprints {
namespace {

constexpr std::array<std::string_view, 17> directive_names = {
    "if",     "ifdef", "ifndef",  "elif",         "elifdef", "elifndef",
    "else",   "endif", "include", "include_next", "import",  "embed",
    "define", "undef", "pragma",  "assert",       "unassert"};

template <class List>
bool contains(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }

// `$` and bytes above ASCII may be part of a name.
bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= 'a' && byte <= 'z') || byte == '_' || byte == '$' || byte >= 0x80;
}

// The text with lines that end in a backslash joined to the next, as the compiler joins them.
std::string spliced(std::string_view text) {
  std::string joined;
  joined.reserve(text.size());
  while (!text.empty()) {
    const auto at = text.find('\\');
    joined += text.substr(0, at);
    if (at == std::string_view::npos) break;
    text.remove_prefix(at);
    std::size_t end = 1;
    while (end < text.size() && is_space(text[end]))
      ++end;
    const bool splice = end < text.size() && text[end] == '\n';
    if (!splice) joined += '\\';
    text.remove_prefix(splice ? end + 1 : 1);
  }
  return joined;
}

// Skips white space and comments, lines too when a comment holds them.
std::size_t skip_blank(std::string_view text, std::size_t at) {
  for (;;) {
    while (at < text.size() && is_space(text[at]))
      ++at;
    if (text.substr(at, 2) != "/*") return at;
    const auto close = text.find("*/", at + 2);
    at = close == std::string_view::npos ? text.size() : close + 2;
  }
}

std::string_view word_at(std::string_view text, std::size_t at) {
  auto end = at;
  while (end < text.size() && is_word(text[end]))
    ++end;
  return text.substr(at, end - at);
}

// Whether only white space is between `at` and the start of its line, a comment's end, or the start
// of the text.
bool starts_line(std::string_view text, std::size_t at) {
  while (at > 0 && is_space(text[at - 1]))
    --at;
  if (at == 0 || text[at - 1] == '\n') return true;
  if (at >= 2 && text.substr(at - 2, 2) == "*/") return true;
  return at == 3 && text.starts_with("\xef\xbb\xbf");
}

// The end of the line; if a comment begins in it, the end of the line in which the comment ends.
std::size_t directive_end(std::string_view text, std::size_t at) {
  for (;;) {
    const auto line = std::min(text.find('\n', at), text.size());
    const auto open = text.find("/*", at);
    if (open >= line) return line;
    const auto close = text.find("*/", open + 2);
    if (close == std::string_view::npos) return text.size();
    at = close + 2;
  }
}

// Calls `take(word, end)` for each word that can be a name; `end` is the position after it.
template <class Take>
void each_word(std::string_view text, Take take) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word(text[at])) {
      ++at;
      continue;
    }
    const auto word = word_at(text, at);
    at += word.size();
    if (word[0] < '0' || word[0] > '9') take(word, at);
  }
}

// ---- Definitions --------------------------------------------------------------------------------

struct definition {
  std::string_view name;
  std::vector<std::string_view> parameters;
  std::string_view body;
};

definition definition_in(std::string_view text) {
  definition result;
  auto at = skip_blank(text, 0);
  result.name = word_at(text, at);
  at += result.name.size();
  if (text.substr(at, 1) == "(") {
    const auto close = std::min(text.find(')', at), text.size());
    each_word(text.substr(at, close - at),
              [&](std::string_view word, std::size_t) { result.parameters.push_back(word); });
    result.parameters.push_back("__VA_ARGS__");
    at = close;
  }
  result.body = text.substr(std::min(at, text.size()));
  return result;
}

// The names that `##` in a definition may form: each begins with the left operand.
std::vector<pasting_macro> pastes_of(const definition& one) {
  std::vector<pasting_macro> result;
  const auto add = [&](std::string_view left) {
    result.push_back({std::string(one.name), std::string(left)});
  };
  if (one.body.find("%:%:") != std::string_view::npos) add({});
  for (auto at = one.body.find("##"); at != std::string_view::npos;
       at = one.body.find("##", at + 2)) {
    auto end = at;
    while (end > 0 && is_space(one.body[end - 1]))
      --end;
    auto begin = end;
    while (begin > 0 && is_word(one.body[begin - 1]))
      --begin;
    const auto left = one.body.substr(begin, end - begin);
    if (!left.empty()) add(contains(one.parameters, left) ? std::string_view() : left);
  }
  return result;
}

// ---- Reading one file -------------------------------------------------------------------------

// The name at `at` between quotes or angle brackets.
std::optional<include_name> name_at(std::string_view text, std::size_t at) {
  if (at >= text.size() || (text[at] != '"' && text[at] != '<')) return std::nullopt;
  const bool quoted = text[at] == '"';
  const auto close = text.find(quoted ? '"' : '>', at + 1);
  if (close == std::string_view::npos ||
      text.substr(at, close - at).find('\n') != std::string::npos)
    return std::nullopt;
  return include_name{std::string(text.substr(at + 1, close - at - 1)), quoted};
}

class source_reader {
public:
  explicit source_reader(std::string_view text)
      : text_(text) {}

  source_text read() {
    for (std::size_t at = text_.find_first_of("#%"); at != std::string_view::npos;
         at = text_.find_first_of("#%", at + 1)) {
      const std::size_t mark = text_[at] == '#' ? 1 : text_.substr(at, 2) == "%:" ? 2 : 0;
      if (mark > 0 && starts_line(text_, at)) take_directive(skip_blank(text_, at + mark));
    }
    std::sort(result_.names.begin(), result_.names.end());
    result_.names.erase(std::unique(result_.names.begin(), result_.names.end()),
                        result_.names.end());
    auto& words = result_.words;
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    return std::move(result_);
  }

private:
  void take_directive(std::size_t at) {
    const auto name = word_at(text_, at);
    if (!contains(directive_names, name)) return;
    at += name.size();
    const auto text = text_.substr(at, directive_end(text_, at) - at);
    if (name == "embed") result_.opaque = true;
    if (name.starts_with("include") || name == "import") take_include(text);
    take_has_include(text, name == "define");
    result_.opaque = result_.opaque || opens_raw_string(text);
    each_word(text, [&](std::string_view word, std::size_t) {
      result_.words.push_back(fast_hash(word));
    });
    if (name == "define")
      for (auto& paste : pastes_of(definition_in(text)))
        result_.pastes.push_back(std::move(paste));
    result_.directives.push_back({std::string(name), std::string(text)});
  }

  void take_include(std::string_view text) {
    if (auto name = name_at(text, skip_blank(text, 0)))
      result_.names.push_back(std::move(*name));
    else
      result_.includes_by_macro = true;
  }

  // In a definition, a quoted name is searched beside each file that uses the macro, and an
  // operator without an argument may get one from any file.
  void take_has_include(std::string_view text, bool in_definition) {
    each_word(text, [&](std::string_view word, std::size_t end) {
      if (!word.starts_with("__has_include") && !word.starts_with("__has_embed")) return;
      const auto open = skip_blank(text, end);
      if (open >= text.size() || text[open] != '(') {
        result_.opaque = result_.opaque || in_definition;
        return;
      }
      auto name = name_at(text, skip_blank(text, open + 1));
      if (!name || (in_definition && name->quoted) || word.starts_with("__has_embed"))
        result_.opaque = true;
      else
        result_.names.push_back(std::move(*name));
    });
  }

  // Whether a raw string begins in the text: it could continue the directive on further lines.
  static bool opens_raw_string(std::string_view text) {
    constexpr std::size_t longest_delimiter = 16;
    for (auto at = text.find("R\""); at != std::string_view::npos; at = text.find("R\"", at + 1)) {
      const auto stop = text.find_first_of(" ()\\\t\"\n", at + 2);
      if (stop != std::string_view::npos && text[stop] == '(' && stop - at - 2 <= longest_delimiter)
        return true;
    }
    return false;
  }

  std::string_view text_;
  source_text result_;
};

// Walks through text token by token as a compiler does, to find directives in block comments and
// raw strings.
class comment_walker {
public:
  explicit comment_walker(std::string_view text)
      : text_(text) {}

  bool hides_directive() {
    while (at_ < text_.size() && !hidden_)
      step();
    return hidden_;
  }

private:
  void step() {
    const char c = text_[at_];
    if (text_.substr(at_, 2) == "//")
      at_ = std::min(text_.find('\n', at_), text_.size());
    else if (text_.substr(at_, 2) == "/*")
      skip_to("*/", at_ + 2);
    else if (c == '"' || c == '\'')
      skip_string(c);
    else if (is_word(c))
      skip_word();
    else
      ++at_;
  }

  void skip_word() {
    const auto word = word_at(text_, at_);
    at_ += word.size();
    const bool number = word[0] >= '0' && word[0] <= '9';
    if (number && text_.substr(at_, 1) == "'" && at_ + 1 < text_.size() && is_word(text_[at_ + 1]))
      ++at_; // a digit separator
    else if (word.ends_with('R') && text_.substr(at_, 1) == "\"")
      skip_raw_string();
  }

  void skip_string(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\')
        ++at_;
      else if (text_[at_] == quote)
        break;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  void skip_raw_string() {
    const auto open = text_.find('(', at_);
    if (open == std::string_view::npos || open - at_ > 17) return skip_string('"');
    skip_to(")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"", open + 1);
  }

  void skip_to(std::string_view end, std::size_t from) {
    const auto close = text_.find(end, from);
    const auto stop = close == std::string_view::npos ? text_.size() : close;
    for (auto at = text_.find_first_of("#%", from); at < stop;
         at = text_.find_first_of("#%", at + 1))
      hidden_ =
          hidden_ || (starts_line(text_, at) &&
                      contains(directive_names,
                               word_at(text_, skip_blank(text_, at + (text_[at] == '%' ? 2 : 1)))));
    at_ = std::min(stop + end.size(), text_.size());
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool hidden_ = false;
};

bool has_lone_carriage_return(std::string_view text) {
  for (auto at = text.find('\r'); at != std::string_view::npos; at = text.find('\r', at + 1))
    if (text.substr(at + 1, 1) != "\n") return true;
  return false;
}

// ---- Following macros -------------------------------------------------------------------------

using name_set = std::set<std::string, std::less<>>;

// Whether a pragma affects neither macros nor files, by its first words.
bool is_harmless_pragma(std::string_view text) {
  constexpr std::array<std::string_view, 6> first = {"omp",   "unroll", "nounroll",
                                                     "ivdep", "STDC",   "message"};
  constexpr std::array<std::string_view, 6> second = {"unroll", "ivdep", "diagnostic",
                                                      "loop",   "fp",    "warning"};
  const auto at = skip_blank(text, 0);
  const auto word = word_at(text, at);
  if (contains(first, word)) return true;
  if (word != "GCC" && word != "clang") return false;
  return contains(second, word_at(text, skip_blank(text, at + word.size())));
}

// Tracks which macros may be defined, or may expand, differently depending on the definitions of
// the given macros. The caller repeats the steps until the sets stop growing.
class macro_tracker {
public:
  macro_tracker(std::span<const std::string> macros)
      : defined_(macros.begin(), macros.end())
      , expanding_(macros.begin(), macros.end()) {
    expanding_.insert("__COUNTER__"); // counts its uses in ordinary text too
  }

  // Adds the macros that may form tracked names in this file.
  void follow_pastes(const source_text& file) {
    for (const auto& one : file.pastes) {
      const auto first = expanding_.lower_bound(one.left);
      if (first != expanding_.end() && first->starts_with(one.left)) expanding_.insert(one.name);
    }
  }

  // Whether a directive of the file has a tracked name; may be true when none has.
  bool is_in(const source_text& file) const {
    return std::any_of(expanding_.begin(), expanding_.end(), [&](const std::string& name) {
      return std::binary_search(file.words.begin(), file.words.end(), fast_hash(name));
    });
  }

  // Follows one file. True when it reaches an inclusion, or a directive that it cannot judge.
  bool follow(const source_text& file) {
    open_.clear();
    unbalanced_ = false;
    bool touched = false;
    for (const auto& one : file.directives) {
      if (follow(one)) return true;
      touched = touched || in_region();
    }
    return touched && (file.nests_doubtfully || unbalanced_ || !open_.empty());
  }

  std::size_t size() const { return defined_.size() + expanding_.size(); }

private:
  bool in_region() const { return std::find(open_.begin(), open_.end(), true) != open_.end(); }

  bool follow(const directive& one) {
    const auto& name = one.name;
    if (name == "if" || name == "ifdef" || name == "ifndef")
      open_.push_back(mentions(one));
    else if (name.starts_with("elif") || name == "else" || name == "endif")
      follow_branch(one);
    else if (name.starts_with("include") || name == "import" || name == "embed")
      return in_region() || (!name_at(one.text, skip_blank(one.text, 0)) && mentions(one));
    else if (name == "define")
      follow_definition(definition_in(one.text));
    else if (name == "undef")
      follow_removal(word_at(one.text, skip_blank(one.text, 0)));
    else
      return in_region() && !(name == "pragma" && is_harmless_pragma(one.text));
    return false;
  }

  void follow_branch(const directive& one) {
    if (open_.empty())
      unbalanced_ = true;
    else if (one.name == "endif")
      open_.pop_back();
    else if (one.name != "else")
      open_.back() = open_.back() || mentions(one);
  }

  // Whether the outcome of a condition may differ: `defined X` and #ifdef depend only on whether X
  // is defined; other names are expanded.
  bool mentions(const directive& one) const {
    if (one.name.ends_with("def"))
      return defined_.contains(word_at(one.text, skip_blank(one.text, 0)));
    bool found = false;
    bool asks_definition = false;
    each_word(one.text, [&](std::string_view word, std::size_t) {
      found = found || (asks_definition ? defined_ : expanding_).contains(word);
      asks_definition = word == "defined";
    });
    return found;
  }

  void follow_definition(const definition& one) {
    if (in_region()) defined_.emplace(one.name);
    if (in_region() || mentions_in(one.body)) expanding_.emplace(one.name);
  }

  void follow_removal(std::string_view name) {
    if (!in_region()) return;
    defined_.emplace(name);
    expanding_.emplace(name);
  }

  bool mentions_in(std::string_view body) const {
    bool found = false;
    each_word(body, [&](std::string_view word, std::size_t) {
      found = found || expanding_.contains(word);
    });
    return found;
  }

  name_set defined_;       // may be defined under one definition and not under another
  name_set expanding_;     // may expand differently
  std::vector<bool> open_; // conditionals, and whether each one's outcome may differ
  bool unbalanced_ = false;
};

} // namespace

source_text read_source(std::string_view text) {
  const auto joined = spliced(text);
  auto result = source_reader(joined).read();
  const auto has = [&](std::string_view word) { return joined.find(word) != std::string::npos; };
  result.mentions_incbin = has(".incbin");
  result.opaque = result.opaque || has("\?\?=") || has("\?\?/") || has(".incbin") ||
                  has_lone_carriage_return(joined);
  result.nests_doubtfully = comment_walker(joined).hides_directive();
  result.has_pragma_operator = has("_Pragma");
  result.has_macro_pragma_word = has("push_macro") || has("pop_macro") || has("target") ||
                                 has("optimize") || has("push_options") || has("pop_options");
  return result;
}

bool inclusion_depends_on(std::span<const std::string> macros,
                          std::span<const inspected_file> files) {
  if (macros.empty()) return false;
  bool pragmas = false;
  bool words = false;
  for (const auto& file : files) {
    if (file.text->opaque) return true;
    pragmas = pragmas || (file.own && file.text->has_pragma_operator);
    words = words || (file.own && file.text->has_macro_pragma_word);
  }
  if (pragmas && words) return true; // a pragma in ordinary text may change macros
  macro_tracker tracker(macros);
  for (std::size_t before = 0; before != tracker.size();) {
    before = tracker.size();
    for (const auto& file : files)
      tracker.follow_pastes(*file.text);
    for (const auto& file : files)
      if (tracker.is_in(*file.text) && tracker.follow(*file.text)) return true;
  }
  return false;
}

} // namespace hearth::fingerprints
