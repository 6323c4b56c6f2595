#include "runtime/cli/commands/stats_command.hpp"

#include "runtime/cli/io/json.hpp"
#include "runtime/cli/io/remote_report.hpp"
#include "runtime/cli/open_store.hpp"
#include "runtime/front/compile_counts.hpp"
#include "runtime/process/process_runner.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

namespace hearth::cli {
namespace {

using nlohmann::json;

json json_of(const remote_answer& remote) {
  return {{"url", remote.place},
          {"state", remote.state},
          {"problem", remote.problem},
          {"answer_ms", remote.answer_ms}};
}

json json_of(const std::vector<remote_answer>& remotes) {
  auto all = json::array();
  for (const auto& one : remotes)
    all.push_back(json_of(one));
  return all;
}

std::string text_of(const remote_answer& remote) {
  if (remote.state == "closed")
    return fmt::format("{} answers in {:.2f} ms", printable(remote.place), remote.answer_ms);
  return printable(remote.place + " does not answer: " + remote.problem);
}

using front::compile_end;

json json_of(const front::compile_counts& all) {
  return {{"hits", all.of(compile_end::hit)},
          {"hits_elsewhere", all.of(compile_end::hit_elsewhere)},
          {"misses", all.of(compile_end::miss)},
          {"saved_ms", all.saved_ns / 1'000'000},
          {"not_kept", all.of(compile_end::not_kept)},
          {"failed", all.of(compile_end::failed)},
          {"on_terminal", all.of(compile_end::on_terminal)},
          {"trouble", all.of(compile_end::trouble)},
          {"uncached", all.uncached}};
}

// Nothing where no compile was counted.
void add_rows(const front::compile_counts& all, std::vector<std::vector<std::string>>& rows) {
  const auto hits = all.of(compile_end::hit) + all.of(compile_end::hit_elsewhere);
  const auto misses = all.of(compile_end::miss);
  if (hits + misses != 0)
    rows.push_back(
        {"compiles found",
         fmt::format("{} of {} ({:.1f}%), {} of them elsewhere", hits, hits + misses,
                     100.0 * static_cast<double>(hits) / static_cast<double>(hits + misses),
                     all.of(compile_end::hit_elsewhere))});
  if (hits != 0)
    rows.push_back(
        {"time saved", fmt::format("{:.1f} s", static_cast<double>(all.saved_ns) / 1e9)});
  const std::pair<const char*, compile_end> others[] = {
      {"not kept", compile_end::not_kept},
      {"failed", compile_end::failed},
      {"shown on a terminal", compile_end::on_terminal},
      {"ran without Hearth", compile_end::trouble}};
  for (const auto& [name, how] : others)
    if (all.of(how) != 0) rows.push_back({name, std::to_string(all.of(how))});
  for (const auto& [reason, times] : all.uncached)
    rows.push_back({"not cached: " + reason, std::to_string(times)});
}

// What a named cache takes, in all of its versions.
struct cache_use {
  std::uint64_t entries = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t stored_bytes = 0; // with keys, metadata and headers, after compression
};

// The bound of what is told: a store of a server may have any number of caches.
constexpr std::size_t max_caches = 1000;

expected<std::map<std::string, cache_use>> use_of_caches(storage::store& source) {
  std::map<std::string, cache_use> all;
  const auto listed = source.list([&](const storage::entry_info& entry) {
    auto at = all.find(entry.cache);
    if (at == all.end())
      at = all.try_emplace(all.size() < max_caches ? entry.cache : "(others)").first;
    ++at->second.entries;
    at->second.payload_bytes += entry.payload_bytes;
    at->second.stored_bytes += entry.stored_bytes;
    return true;
  });
  if (!listed) return fail(listed.error());
  return all;
}

json json_of(const std::map<std::string, cache_use>& caches) {
  auto object = json::object();
  for (const auto& [name, use] : caches)
    object[name] = {{"entries", use.entries},
                    {"payload_bytes", use.payload_bytes},
                    {"stored_bytes", use.stored_bytes}};
  return object;
}

void print_caches(std::ostream& out, const std::map<std::string, cache_use>& caches) {
  if (caches.empty()) return;
  std::vector<std::vector<std::string>> rows{{"CACHE", "ENTRIES", "CONTENT", "ON DISK"}};
  for (const auto& [name, use] : caches)
    rows.push_back({printable(name), std::to_string(use.entries), human_bytes(use.payload_bytes),
                    human_bytes(use.stored_bytes)});
  out << '\n';
  print_table(out, rows, {false, true, true, true});
}

} // namespace

status stats(const config& settings, const stats_arguments& arguments) {
  const auto source = open_store(settings, store_use::look);
  if (!source) return store_trouble(source.error());
  if (arguments.zero) {
    if (front::forget_counts_of_compiles(settings.store)) return yes;
    return report({errc::io, "cannot write " + (settings.store / "compiles.count").string()});
  }
  const auto compiles = front::counts_of_compiles(settings.store);
  const auto caches = use_of_caches(**source);
  if (!caches) return store_trouble(caches.error());
  const auto s = (*source)->stats();
  std::vector<remote_answer> remotes;
  if (!settings.remote.url.empty()) remotes.push_back(ask_remote(settings.remote));
  for (const auto& one : settings.remote.farther)
    remotes.push_back(ask_remote(one));
  const auto watching = settings.watch_programs ? process::why_not_watched() : "it is turned off";
  if (arguments.json)
    return print(dump({{"store", settings.store.string()},
                       {"entries", s.entries},
                       {"live_bytes", s.live_bytes},
                       {"disk_bytes", s.disk_bytes},
                       {"index_bytes", s.index_bytes},
                       {"segments", s.segments},
                       {"shards", (*source)->shards()},
                       {"budget_bytes", s.budget_bytes},
                       {"caches", json_of(*caches)},
                       {"compiles", json_of(compiles)},
                       {"watching", watching.empty() ? json(true) : json(watching)},
                       {"remote", remotes.empty() ? json(nullptr) : json_of(remotes.front())},
                       {"remotes", json_of(remotes)}}),
                 yes);
  std::vector<std::vector<std::string>> rows{
      {"store", settings.store.string()},
      {"entries", std::to_string(s.entries)},
      {"live", human_bytes(s.live_bytes)},
      {"on disk", human_bytes(s.disk_bytes)},
      {"index", human_bytes(s.index_bytes)},
      {"segments", fmt::format("{} in {} shards", s.segments, (*source)->shards())},
      {"budget", human_bytes(s.budget_bytes)}};
  add_rows(compiles, rows);
  rows.push_back({"watching", watching.empty() ? "yes" : "no: " + watching});
  for (const auto& one : remotes)
    rows.push_back({"remote", text_of(one)});
  std::ostringstream out;
  print_table(out, rows, {false, false});
  print_caches(out, *caches);
  return print(out.str(), yes);
}

} // namespace hearth::cli
