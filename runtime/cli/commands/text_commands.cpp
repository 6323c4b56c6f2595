#include "runtime/cli/commands/text_commands.hpp"

#include "messages/graph.hpp"
#include "messages/guard.hpp"
#include "messages/source_place.hpp"
#include "runtime/cli/io/files.hpp"
#include "runtime/cli/io/json.hpp"

#include <nlohmann/json.hpp>

#include <charconv>

namespace hearth::cli {
namespace {

using nlohmann::json;

error bad_symbol(const std::string& argument, std::string_view why) {
  return {errc::invalid_argument, "symbol " + in_quotes(argument) + ": " + std::string(why) +
                                      "; write NAME=INT, such as s0=8"};
}

// Splits at the last '=': a quoted name may contain one.
expected<std::pair<std::string, std::int64_t>> parse_symbol(const std::string& argument) {
  const auto split = argument.rfind('=');
  if (split == std::string::npos) return fail(bad_symbol(argument, "it has no '='"));
  auto name = canonical_symbol_name(std::string_view(argument).substr(0, split));
  if (!name) return fail(bad_symbol(argument, name.error().text()));
  auto digits = std::string_view(argument).substr(split + 1);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  std::int64_t number = 0;
  const auto* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, number);
  if (parsed.ec == std::errc::result_out_of_range)
    return fail(bad_symbol(argument, "the number is outside 64 bits"));
  if (parsed.ec != std::errc{} || parsed.ptr != end)
    return fail(bad_symbol(argument, in_quotes(digits) + " is no whole number"));
  return std::pair{std::move(*name), number};
}

expected<symbol_values> parse_symbols(const std::vector<std::string>& arguments) {
  symbol_values symbols;
  for (const auto& argument : arguments) {
    auto one = parse_symbol(argument);
    if (!one) return fail(one.error());
    if (!symbols.insert(*one).second)
      return fail(bad_symbol(argument, "this name has a value already"));
  }
  return symbols;
}

} // namespace

status guard(const config&, const guard_arguments& arguments) {
  const auto symbols = parse_symbols(arguments.symbols);
  if (!symbols) return report(symbols.error());
  const auto parsed = guard_expression::parse(arguments.expression);
  if (!parsed) return report(parsed.error().within("guard"));
  const auto holds = parsed->evaluate(*symbols);
  if (!holds) return report(holds.error().within("guard"));
  const auto ending = *holds ? yes : no;
  if (!arguments.json) return print(*holds ? "true\n" : "false\n", ending);
  return print(dump(json{{"guard", parsed->text()}, {"holds", *holds}}), ending);
}

status graph_text(const config&, const graph_arguments& arguments) {
  const auto text = read_input(arguments.file);
  if (!text) return report(text.error());
  const auto normal = normalize_graph(*text);
  if (!normal)
    return report(normal.error().within(arguments.file == "-" ? "stdin" : arguments.file));
  return print(arguments.json ? dump(json{{"graph", *normal}}) : *normal, yes);
}

} // namespace hearth::cli
