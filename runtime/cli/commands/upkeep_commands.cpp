#include "runtime/cli/commands/upkeep_commands.hpp"

#include "messages/size_text.hpp"
#include "runtime/caches/modules/module_files.hpp"
#include "runtime/cli/io/json.hpp"
#include "runtime/cli/open_store.hpp"
#include "runtime/cli/settings/settings.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <vector>

namespace hearth::cli {
namespace {

using nlohmann::json;

// The report of verify: its findings, and whether the store is intact now.
struct verdict {
  storage::verify_report found;
  std::vector<std::string> remaining; // findings after a repair
  std::uint64_t rebuilt_shards = 0;
  bool intact = false;
};

json json_of(const verdict& all) {
  return {{"intact", all.intact},           {"records", all.found.records},
          {"bytes", all.found.bytes},       {"damaged", all.found.damaged},
          {"dangling", all.found.dangling}, {"unindexed", all.found.unindexed},
          {"repaired", all.found.repaired}, {"rebuilt_shards", all.rebuilt_shards},
          {"findings", all.found.findings}, {"remaining", all.remaining}};
}

std::string text_of(const verdict& all) {
  std::string text;
  for (const auto* findings : {&all.found.findings, &all.remaining})
    for (const auto& one : *findings)
      text += printable(one) + "\n";
  text += all.intact ? "intact" : "not intact";
  text += fmt::format(": {} records, {}", all.found.records, human_bytes(all.found.bytes));
  const auto count = [&](std::uint64_t number, std::string_view what) {
    if (number > 0) text += fmt::format(", {} {}", number, what);
  };
  count(all.found.damaged, "damaged");
  count(all.found.dangling, "dangling");
  count(all.found.repaired, "repaired");
  count(all.rebuilt_shards, "shards rebuilt");
  return text + "\n";
}

status answer(const verdict& all, const upkeep_arguments& arguments) {
  return print(arguments.json ? dump(json_of(all)) : text_of(all), all.intact ? yes : no);
}

// Reports a store that is too damaged to be read as not intact.
status answer_unreadable(const error& why, const upkeep_arguments& arguments) {
  verdict all;
  all.found.damaged = 1;
  all.found.findings = {why.text()};
  return answer(all, arguments);
}

expected<storage::verify_report> look_through(storage::store& store, bool repair,
                                              std::string_view what) {
  byte_progress shown(what);
  return store.verify(repair, std::ref(shown));
}

expected<verdict> check(storage::store& store, bool repair) {
  auto found = look_through(store, repair, "checking");
  if (!found) return fail(found.error());
  verdict all{std::move(*found), {}, store.stats().rebuilds, false};
  all.intact = all.found.intact();
  if (!repair) return all;
  auto now = look_through(store, false, "checking again");
  if (!now) return fail(now.error());
  all.intact = now->intact();
  if (!all.intact) all.remaining = std::move(now->findings);
  return all;
}

// Reports the bytes that a command freed on disk.
status answer_freed(const storage::store& store, std::uint64_t freed, std::string_view word,
                    const upkeep_arguments& arguments) {
  const auto left = store.stats().disk_bytes;
  if (arguments.json)
    return print(dump({{"status", word}, {"freed_bytes", freed}, {"disk_bytes", left}}), yes);
  return print(fmt::format("{}: {} freed, {} left\n", word, human_bytes(freed), human_bytes(left)),
               yes);
}

} // namespace

status verify(const config& settings, const upkeep_arguments& arguments) {
  auto store = open_store(settings, arguments.repair ? store_use::change : store_use::look);
  if (!store && store.error().code() == errc::corrupt)
    return answer_unreadable(store.error(), arguments);
  if (!store) return store_trouble(store.error());
  const auto all = check(**store, arguments.repair);
  return all ? answer(*all, arguments) : store_trouble(all.error());
}

status evict(const config& settings, const upkeep_arguments& arguments) {
  const auto size = parse_size(arguments.to);
  if (!size) return report(size.error().within("--to"));
  auto store = open_store(settings, store_use::change);
  if (!store) return store_trouble(store.error());
  byte_progress shown("evicting");
  const auto freed = (*store)->evict_to(*size, std::ref(shown));
  return freed ? answer_freed(**store, *freed, "evicted", arguments) : store_trouble(freed.error());
}

status clear(const config& settings, const upkeep_arguments& arguments) {
  auto store = open_store(settings, store_use::change);
  if (!store) return store_trouble(store.error());
  const auto before = (*store)->stats().disk_bytes;
  if (auto cleared = (*store)->clear(); !cleared) return store_trouble(cleared.error());
  const auto after = (*store)->stats().disk_bytes;
  const auto modules = prune_modules(module_folder(settings.store), 0);
  return answer_freed(**store, before - std::min(before, after) + modules, "cleared", arguments);
}

} // namespace hearth::cli
