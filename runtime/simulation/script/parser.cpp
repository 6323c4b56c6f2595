#include "runtime/simulation/script/parser.hpp"

#include "messages/replace_all.hpp"
#include "runtime/simulation/script/parser/parts.hpp"

#include <map>
#include <optional>
#include <utility>

namespace hearth::script {
namespace {

constexpr std::size_t max_statements = 100'000;
constexpr std::uint64_t max_turns = 10'000;

class parser {
public:
  explicit parser(const std::string& file)
      : file_(file) {}

  program parse(std::string_view text) {
    program made{file_, {}};
    parse_lines(text, made.statements);
    return made;
  }

private:
  // --- lines

  void parse_lines(std::string_view text, std::vector<statement>& into) {
    while (next_line(text)) {
      auto in = reader();
      if (in.accept("repeat"))
        parse_repeat(in, into);
      else if (auto what = parse_line())
        into.push_back(std::move(*what));
      if (into.size() > max_statements)
        reader().fail_at(1, "expected at most " + std::to_string(max_statements) + " statements");
    }
  }

  // Takes the lines of the current block, and its `end`.
  std::string take_block() {
    const int begin = number_;
    std::string block;
    for (int depth = 1;;) {
      const auto* const at = remaining_->data();
      if (!next_line(*remaining_)) {
        number_ = begin;
        reader().fail_at(1, "expected 'end' after the lines of this block, but the script ends");
      }
      auto in = reader();
      const auto word = in.at_end() ? std::string_view() : in.peek_word();
      if (word == "repeat" || is_trace_block(in)) ++depth;
      if (word == "end" && --depth == 0) return block;
      block.append(at, line_.data() + line_.size()).append("\n");
    }
  }

  static bool is_trace_block(line_reader in) {
    return in.accept("expect") && in.accept("trace") && in.at_end();
  }

  // Parses a block `times` times, with {NAME} replaced by the number of the turn, from 1.
  void parse_repeat(line_reader& in, std::vector<statement>& into) {
    const auto column = in.column();
    const auto times = in.take_number("how many times");
    if (times == 0 || times > max_turns)
      in.fail_at(column, "expected 1 to " + std::to_string(max_turns) + " times");
    const auto name = in.accept("as") ? "{" + in.take_name("a name") + "}" : std::string();
    in.expect_end();
    const int begin = number_;
    const auto block = take_block();
    const int end = number_;
    auto* const after = remaining_;
    for (std::uint64_t turn = 1; turn <= times; ++turn) {
      auto text = block;
      if (!name.empty()) replace_all(text, name, std::to_string(turn));
      number_ = begin;
      parse_lines(text, into);
    }
    number_ = end;
    remaining_ = after;
  }

  // Takes a line off `text`, without its comment.
  bool next_line(std::string_view& text) {
    if (text.empty()) return false;
    const auto end = text.find('\n');
    line_ = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    ++number_;
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    remaining_ = &text;
    line_ = without_comment(line_);
    return true;
  }

  // A comment is a # with a space, or nothing, on both sides of it.
  static std::string_view without_comment(std::string_view line) {
    bool in_text = false;
    for (std::size_t at = 0; at < line.size(); ++at) {
      if (line[at] == '"' && (at == 0 || line[at - 1] != '\\')) in_text = !in_text;
      if (in_text) continue;
      const bool before = at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t';
      const bool after = at + 1 == line.size() || line[at + 1] == ' ';
      if (line[at] == '#' && before && after) return line.substr(0, at);
    }
    return line;
  }

  line_reader reader() const { return {file_ + ":" + std::to_string(number_), line_}; }

  std::optional<statement> parse_line() {
    auto in = reader();
    if (in.at_end()) return std::nullopt;
    statement made;
    made.line = number_;
    made.source = std::string(line_.substr(in.column() - 1));
    made.source.resize(made.source.find_last_not_of(" \t") + 1);
    made.what = parse_statement(in).what;
    in.expect_end();
    return made;
  }

  statement parse_statement(line_reader& in) {
    statement made;
    made.line = number_;
    const auto column = in.column();
    const auto word = in.take_word("a statement");
    if (const auto verb = verbs().find(word); verb != verbs().end())
      made.what = verb->second(in, names_);
    else if (word == "maybe")
      made.what = parse_maybe(in);
    else if (word == "expect")
      made.what = in.accept("trace") ? parse_trace_block(in) : parse_expect(in, names_);
    else if (names_.clients.contains(word))
      made.what = parse_message(in, names_, word);
    else
      in.fail_at(column, "expected a statement or the name of a client, got '" + word + "'");
    return made;
  }

  using parse_function = statement_body (*)(line_reader&, scope&);
  static const std::map<std::string, parse_function, std::less<>>& verbs() {
    static const std::map<std::string, parse_function, std::less<>> all{
        {"host", parse_host},       {"remote", parse_remote},
        {"cluster", parse_cluster}, {"process", parse_process},
        {"client", parse_client},   {"cache", parse_cache},
        {"deliver", parse_deliver}, {"settle", parse_run_until_idle},
        {"advance", parse_advance}, {"run", parse_run},
        {"stall", parse_stall},     {"crash", parse_crash},
        {"start", parse_start},     {"stop", parse_stop},
        {"power", parse_power},     {"flush", parse_flush},
        {"disk", parse_disk},       {"damage", parse_damage},
        {"flip", parse_flip},       {"cut", parse_cut},
        {"remove", parse_remove},   {"compiler", parse_compiler},
        {"trial", parse_trial},     {"order", parse_order},
        {"limit", parse_limit},     {"forget", parse_forget}};
    return all;
  }

  statement_body parse_maybe(line_reader& in) {
    const auto column = in.column();
    auto inner = std::make_shared<statement>(parse_statement(in));
    const bool adds = std::holds_alternative<add_host>(inner->what) ||
                      std::holds_alternative<add_remote>(inner->what) ||
                      std::holds_alternative<add_cluster>(inner->what) ||
                      std::holds_alternative<add_process>(inner->what) ||
                      std::holds_alternative<add_client>(inner->what) ||
                      std::holds_alternative<expect_trace>(inner->what);
    if (adds) in.fail_at(column, "expected something that may also not happen after maybe");
    inner->source = std::string(line_);
    return maybe{std::move(inner)};
  }

  statement_body parse_trace_block(line_reader& in) {
    in.expect_end();
    const int begin = number_;
    expect_trace made;
    for (;;) {
      if (!next_line(*remaining_)) {
        number_ = begin;
        reader().fail_at(1, "expected 'end' after the lines of this trace, but the script ends");
      }
      auto line = reader();
      if (line.at_end()) continue;
      if (line.peek_word() == "end") break;
      made.patterns.push_back(line.take_rest("a pattern"));
    }
    in = reader();
    in.take_word("");
    return made;
  }

  std::string file_;
  std::string_view line_;
  std::string_view* remaining_ = nullptr;
  int number_ = 0;
  scope names_;
};

} // namespace

expected<program> parse(const std::string& file, std::string_view text) {
  try {
    return parser(file).parse(text);
  } catch (const syntax_error& problem) {
    return fail(errc::malformed, problem.text);
  }
}

} // namespace hearth::script
