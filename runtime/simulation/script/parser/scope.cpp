#include "runtime/simulation/script/parser/scope.hpp"

namespace hearth::script {
namespace {

bool is_reserved(std::string_view name) {
  static const std::set<std::string, std::less<>> words{
      "host",   "process", "client",  "cache",    "deliver", "settle", "advance", "run",
      "stall",  "crash",   "start",   "stop",     "power",   "flush",  "disk",    "damage",
      "flip",   "cut",     "remove",  "compiler", "trial",   "order",  "limit",   "maybe",
      "expect", "repeat",  "forget",  "trace",    "no",      "log",    "remote",  "all",
      "one",    "end",     "figures", "asks",     "calls",   "tells",  "cluster"};
  return words.contains(name);
}

} // namespace

bool scope::is_taken(const std::string& name) const {
  return is_reserved(name) || hosts.contains(name) || processes.contains(name) ||
         clients.contains(name) || has_server(name);
}

std::string scope::take_new(line_reader& in, std::string_view what) const {
  const auto column = in.column();
  auto name = in.take_name(what);
  if (is_taken(name) || labels.contains(name))
    in.fail_at(column, "expected a name that is not taken, got '" + name + "'");
  return name;
}

std::string scope::take_host(line_reader& in) const {
  return take_known(in, hosts, "the name of a host");
}

std::string scope::take_process(line_reader& in) const {
  return take_known(in, processes, "the name of a process");
}

std::optional<std::size_t> scope::take_index(line_reader& in, std::size_t column,
                                             std::string& word) const {
  const auto bracket = word.find('[');
  if (bracket == std::string::npos) return std::nullopt;
  const auto digits = word.substr(bracket + 1, word.size() - bracket - 2);
  const bool is_number = !digits.empty() && digits.size() < 4 && word.ends_with(']') &&
                         digits.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number) in.fail_at(column, "expected a number in brackets, got '" + word + "'");
  word.resize(bracket);
  return std::stoul(digits);
}

std::optional<std::size_t> scope::take_node(line_reader& in, std::size_t column,
                                            std::string& word) const {
  const auto node = take_index(in, column, word);
  if (!node) return std::nullopt;
  const auto at = clusters.find(word);
  if (at == clusters.end())
    in.fail_at(column, "expected a cluster before the brackets, got '" + word + "'");
  if (*node >= at->second)
    in.fail_at(column, "expected one of the nodes 0 to " + std::to_string(at->second - 1) + " of " +
                           word + ", got " + std::to_string(*node));
  return node;
}

place scope::take_slot(line_reader& in, std::string_view what) const {
  const auto column = in.column();
  const auto word = in.take_word(what);
  const auto dot = word.find('.');
  if (dot == std::string::npos)
    in.fail_at(column, "expected " + std::string(what) + ", got '" + word + "'");
  place made{word.substr(0, dot), word.substr(dot + 1), std::nullopt};
  made.node = take_node(in, column, made.owner);
  if (!processes.contains(made.owner) && !hosts.contains(made.owner) && !has_server(made.owner))
    in.fail_at(column, "expected the name of a process before the dot, got '" + made.owner + "'");
  made.index = take_index(in, column + dot + 1, made.part);
  return made;
}

place scope::take_actor(line_reader& in, actor_kind& kind) const {
  const auto column = in.column();
  auto made = take_slot(in, "an actor, as a.memory or a.disk[0]");
  const auto known = simulation::actor_kind_named(made.part);
  if (!known) in.fail_at(column, "expected a kind of actor after the dot, got '" + made.part + "'");
  kind = *known;
  return made;
}

std::string take_known(line_reader& in, const name_set& names, std::string_view what) {
  const auto column = in.column();
  auto name = in.take_name(what);
  if (!names.contains(name))
    in.fail_at(column, "expected " + std::string(what) + ", got '" + name + "'");
  return name;
}

} // namespace hearth::script
