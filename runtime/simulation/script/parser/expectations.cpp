#include "runtime/simulation/script/parser/parts.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace hearth::script {
namespace {

statement_body parse_expect_figure(line_reader& in, scope& names) {
  expect_figure made;
  const auto column = in.column();
  made.of = names.take_slot(in, "an actor, store, log, compiler or server, as a.memory");
  if (made.of.index && names.has_server(made.of.owner))
    in.fail_at(column,
               "expected the number of a node behind the name of its cluster, as c[0].server");
  if (made.of.part == "store" && in.accept("intact")) return expect_intact{made.of.owner};
  made.figure = in.take_name("the name of a figure, as hits");
  const std::array<std::string_view, 6> relations{"=", "!=", "<", "<=", ">", ">="};
  const auto relation = in.peek_word();
  if (std::find(relations.begin(), relations.end(), relation) == relations.end())
    in.fail("=, !=, <, <=, > or >=");
  made.relation = in.take_word("");
  made.number = in.take_size("a number");
  return made;
}

// Splits `one or another`; ` or ` in quotes does not split.
std::vector<std::string> alternatives(std::string_view text) {
  constexpr std::string_view between = " or ";
  std::vector<std::string> all;
  std::size_t begin = 0;
  bool in_text = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"' && (at == 0 || text[at - 1] != '\\')) in_text = !in_text;
    if (in_text || !text.substr(at).starts_with(between)) continue;
    all.emplace_back(text.substr(begin, at - begin));
    begin = at + between.size();
  }
  all.emplace_back(text.substr(begin));
  return all;
}

} // namespace

statement_body parse_expect(line_reader& in, scope& names) {
  const bool forbidden = in.accept("no");
  if (forbidden && in.accept("trace")) return expect_trace{{in.take_rest("a pattern")}, true};
  if (in.accept("log")) {
    auto process = names.take_process(in);
    return expect_log{std::move(process), in.take_rest("a pattern"), forbidden};
  }
  if (forbidden) in.fail("trace or log");
  if (in.accept("all")) {
    in.expect_word("answered");
    return expect_all_answered{};
  }
  if (in.peek_word().find('.') != std::string_view::npos) return parse_expect_figure(in, names);
  auto label = take_known(in, names.labels, "an answer, or PROCESS.ACTOR");
  return expect_answer{std::move(label), alternatives(in.take_rest("what is answered"))};
}

} // namespace hearth::script
