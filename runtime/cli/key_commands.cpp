#include "runtime/cli/key_commands.hpp"

#include "messages/explain.hpp"
#include "messages/key_builder.hpp"
#include "runtime/cli/files.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/keys/details_json.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace hearth::cli {
namespace {

using nlohmann::json;

expected<structural_key> key_of(const std::string& file) {
  const auto text = read_input(file);
  if (!text) return fail(text.error());
  const bool is_stdin = file == "-";
  const auto folder =
      is_stdin ? std::filesystem::path() : std::filesystem::path(file).parent_path();
  const auto place = is_stdin ? "stdin" : file;
  auto details = details_from_json(*text, folder);
  if (!details) return fail(details.error().within(place));
  auto key = key_of_details(std::move(*details));
  if (!key) return fail(key.error().within(place));
  return key;
}

status print_key(const structural_key& key, const key_arguments& arguments) {
  const auto lines = arguments.debug ? debug_lines(key.details) : std::vector<std::string>{};
  if (arguments.json) {
    json object{{"key", key.text()}, {"sha256", key.identity.hex()}};
    if (arguments.debug) object["fields"] = lines;
    return print(dump(object), yes);
  }
  std::string text;
  for (const auto& line : lines)
    text += printable(line) + "\n";
  return print(text + key.text() + "\n", yes);
}

json to_json(const difference& one) {
  json object{{"path", one.path}, {"kind", to_string(one.kind)}};
  if (one.kind == difference_kind::moved) {
    object["value"] = one.first;
    object["to"] = one.second;
    return object;
  }
  if (one.kind != difference_kind::only_second) object["first"] = one.first;
  if (one.kind != difference_kind::only_first) object["second"] = one.second;
  return object;
}

} // namespace

status show_key(const config&, const key_arguments& arguments) {
  const auto key = key_of(arguments.details);
  if (!key) return report(key.error());
  if (!key->bypass) return print_key(*key, arguments);
  if (arguments.json) return print(dump(json{{"bypass", *key->bypass}}), no);
  report({errc::unsupported, "no key, the cache is bypassed: " + *key->bypass});
  return no;
}

status explain_keys(const config&, const explain_arguments& arguments) {
  const auto first = key_of(arguments.first);
  if (!first) return report(first.error());
  const auto second = key_of(arguments.second);
  if (!second) return report(second.error());
  const auto found = explain(first->details, second->details);
  const auto ending = found.empty() ? yes : no;
  if (!arguments.json) {
    std::string text;
    for (const auto& one : found)
      text += printable(one.line()) + "\n";
    return print(text, ending);
  }
  auto places = json::array();
  for (const auto& one : found)
    places.push_back(to_json(one));
  return print(dump(json{{"equal", found.empty()},
                         {"first", first->text()},
                         {"second", second->text()},
                         {"differences", std::move(places)}}),
               ending);
}

} // namespace hearth::cli
