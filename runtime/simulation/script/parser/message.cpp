#include "runtime/simulation/script/parser/arguments.hpp"
#include "runtime/simulation/script/parser/parts.hpp"

#include <string>
#include <utility>

namespace hearth::script {
namespace {

using simulation::message_form;

message_form take_form(line_reader& in) {
  if (in.accept("asks")) return message_form::asks;
  if (in.accept("calls")) return message_form::calls;
  if (in.accept("tells")) return message_form::tells;
  in.fail("asks, calls or tells");
}

std::string usages(actor_kind kind, message_form form) {
  std::string text;
  for (const auto& row : simulation::message_table())
    if (row.receiver == kind && row.form == form) text += (text.empty() ? "" : ", ") + row.verb;
  return text.empty() ? "(this actor has no such messages)" : text;
}

} // namespace

statement_body parse_message(line_reader& in, scope& names, const std::string& client) {
  send_message made;
  made.client = client;
  const auto form = take_form(in);
  actor_kind kind{};
  made.to = names.take_actor(in, kind);
  const auto verb_column = in.column();
  const auto verb = in.take_word("a message");
  made.row = simulation::find_message(kind, verb, form);
  if (!made.row) {
    const auto problem = "expected one of: " + usages(kind, form) + "; got '" + verb + "'";
    in.fail_at(verb_column, problem);
  }
  for (const auto p : made.row->parameters)
    made.arguments.push_back(take_argument(in, names, p));
  // A message may have a form with more parameters.
  if (const auto* longer = simulation::find_longer(*made.row);
      longer && !in.at_end() && in.peek_word() != "as") {
    made.row = longer;
    for (auto i = made.arguments.size(); i < longer->parameters.size(); ++i)
      made.arguments.push_back(take_argument(in, names, longer->parameters[i]));
  }
  made.label = client;
  if (in.accept("as")) {
    const auto column = in.column();
    made.label = in.take_name("a name for the answer");
    if (names.is_taken(made.label))
      in.fail_at(column, "expected a name that is not taken, got '" + made.label + "'");
  }
  names.labels.insert(made.label);
  return made;
}

} // namespace hearth::script
