#include "runtime/cli/commands/key_commands.hpp"

#include "messages/explain.hpp"
#include "messages/key_builder.hpp"
#include "runtime/caches/facts/key_history.hpp"
#include "runtime/cli/io/json.hpp"
#include "runtime/cli/io/key_file.hpp"
#include "runtime/cli/io/miss_text.hpp"
#include "runtime/cli/open_store.hpp"
#include "runtime/fingerprints/kept_details.hpp"
#include "runtime/handle/runtime.hpp"

#include <nlohmann/json.hpp>

#include <utility>
#include <vector>

namespace hearth::cli {
namespace {

using nlohmann::json;

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

json display_json(const difference& one) {
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

// Prints the differences: one line each, or as JSON in `about`, which describes the two keys.
status show(const std::vector<difference>& found, const explain_arguments& arguments, json about) {
  const auto ending = found.empty() ? yes : no;
  if (!arguments.json) {
    std::string text;
    for (const auto& one : found)
      text += printable(one.line()) + "\n";
    return print(text, ending);
  }
  auto places = json::array();
  for (const auto& one : found)
    places.push_back(display_json(one));
  about["equal"] = found.empty();
  about["differences"] = std::move(places);
  return print(dump(about), ending);
}

// Offers the keys of a cache's entries, of every version, that were stored with their details.
expected<void> offer_stored(storage::store& source, const std::string& cache,
                            fingerprints::nearest_key& nearest) {
  std::vector<storage::entry_info> entries;
  const auto listed = source.list([&](const storage::entry_info& entry) {
    if (entry.cache == cache && entry.metadata_bytes > 0) entries.push_back(entry);
    return true;
  });
  if (!listed) return listed;
  for (const auto& entry : entries) {
    const auto id = cache_id::make(entry.cache, entry.version);
    if (!id) continue;
    const auto read = source.get({*id, entry.key});
    const auto metadata = read.value.metadata();
    const auto details =
        metadata ? fingerprints::kept_details(*metadata) : std::optional<key_field>{};
    if (!details || !*details) continue; // damaged, or stored without details
    if (const auto key = key_of_details(**details))
      nearest.offer(key->text(), entry.sequence, **details);
  }
  return {};
}

status explain_stored(const config& settings, const explain_arguments& arguments,
                      const structural_key& wanted) {
  if (const auto id = cache_id::make(arguments.cache); !id) return report(id.error());
  fingerprints::nearest_key nearest(wanted.details);
  if (!has_no_store(settings.store)) {
    auto source = open_store(settings, store_use::look);
    if (!source) return store_trouble(source.error());
    if (auto offered = offer_stored(**source, arguments.cache, nearest); !offered)
      return store_trouble(offered.error());
  }
  json about{{"key", wanted.text()}, {"cache", arguments.cache}, {"stored", nearest.offered()}};
  if (nearest.offered() > 0) {
    about["nearest"] = nearest.name();
    return show(nearest.differences(), arguments, std::move(about));
  }
  if (arguments.json) return print(dump(about), no);
  report({errc::not_found, "no entry of cache '" + arguments.cache +
                               "' keeps the details of its key; store some with --details"});
  return no;
}

// The misses of the last run of `compile` or `run`.
status explain_last(const config& settings, const explain_arguments& arguments) {
  std::vector<explained_miss> misses;
  if (!has_no_store(settings.store)) {
    auto host = settings;
    host.remote = {};
    host.jobs = 1;
    runtime rt(host);
    if (!rt.has_disk()) return store_trouble(rt.disk_problem());
    const auto keys = key_history::open(rt);
    auto known = keys ? keys->last() : fail(keys.error());
    if (!known) return report(known.error());
    misses = std::move(*known);
  }
  if (arguments.json) {
    auto all = json::array();
    for (const auto& miss : misses)
      all.push_back({{"what", miss.what}, {"lines", miss.lines}});
    return print(dump(json{{"misses", std::move(all)}}), misses.empty() ? no : yes);
  }
  if (misses.empty()) return print("no run that missed anything is known\n", no);
  std::string text;
  for (const auto& miss : misses)
    text += miss_text(printable(miss.what), miss.lines);
  return print(text, yes);
}

} // namespace

status show_key(const config&, const key_arguments& arguments) {
  const auto key = read_key(arguments.details);
  if (!key) return report(key.error());
  if (!key->bypass) return print_key(*key, arguments);
  if (arguments.json) return print(dump(json{{"bypass", *key->bypass}}), no);
  report({errc::unsupported, "no key, the cache is bypassed: " + *key->bypass});
  return no;
}

status explain_keys(const config& settings, const explain_arguments& arguments) {
  if (arguments.last) {
    if (!arguments.first.empty() || arguments.stored)
      return report({errc::invalid_argument, "explain --last wants no other argument"});
    return explain_last(settings, arguments);
  }
  if (arguments.first.empty())
    return report({errc::invalid_argument, "explain wants the details of a key, or --last"});
  if (arguments.stored == !arguments.second.empty())
    return report({errc::invalid_argument,
                   "explain wants the details of another key, or --stored, and not both"});
  const auto first = read_key(arguments.first);
  if (!first) return report(first.error());
  if (arguments.stored) return explain_stored(settings, arguments, *first);
  const auto second = read_key(arguments.second);
  if (!second) return report(second.error());
  const auto found = explain(first->details, second->details);
  return show(found, arguments, json{{"first", first->text()}, {"second", second->text()}});
}

} // namespace hearth::cli
