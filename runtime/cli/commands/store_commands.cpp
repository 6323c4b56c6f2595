#include "runtime/cli/commands/store_commands.hpp"

#include "messages/cache_id.hpp"
#include "messages/key.hpp"
#include "runtime/cli/io/json.hpp"
#include "runtime/cli/io/remote_report.hpp"
#include "runtime/cli/open_store.hpp"
#include "runtime/front/compile_counts.hpp"
#include "runtime/process/process_runner.hpp"

#include <nlohmann/json.hpp>

#include <ctime>
#include <fmt/format.h>
#include <sstream>
#include <utility>
#include <vector>

namespace hearth::cli {
namespace {

using nlohmann::json;
using storage::entry_info;

std::string key_text(const entry_info& entry) {
  const auto decoded = key::decode(entry.key);
  return decoded ? printable(decoded->describe()) : "(unreadable)";
}

json json_of(const entry_info& entry) {
  return {
      {"cache", entry.cache},
      {"version", entry.version},
      {"key", key_text(entry)},
      {"key_base64", base64(entry.key)},
      {"metadata_bytes", entry.metadata_bytes},
      {"payload_bytes", entry.payload_bytes},
      {"stored_bytes", entry.stored_bytes},
      {"expires_unix_ms", entry.expires_unix_ms == 0 ? json(nullptr) : json(entry.expires_unix_ms)},
      {"shard", entry.shard},
      {"sequence", entry.sequence}};
}

std::string expiry_text(const entry_info& entry) {
  if (entry.expires_unix_ms == 0) return "-";
  const auto seconds = static_cast<std::time_t>(entry.expires_unix_ms / 1000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  return std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc) > 0 ? text : "?";
}

status print(const std::string& text) { return print(text, yes); }

// Prints one entry at a time: the JSON of a whole store may not fit into memory.
status list_json(storage::store& source, const store_arguments& arguments) {
  bool written = write_stdout("[");
  bool is_first = true;
  const auto listed = source.list([&](const entry_info& entry) {
    if (arguments.cache && entry.cache != *arguments.cache) return true;
    auto line = dump(json_of(entry));
    line.pop_back(); // removes the line break
    written = written && write_stdout((std::exchange(is_first, false) ? "" : ",\n") + line);
    return written;
  });
  if (!listed) return store_trouble(listed.error());
  if (written) written = write_stdout("]\n");
  return written ? yes : report({errc::io, "cannot write to stdout"});
}

} // namespace

status list(const config& settings, const store_arguments& arguments) {
  if (arguments.cache)
    if (const auto id = cache_id::make(*arguments.cache); !id) return report(id.error());
  const auto source = open_store(settings, store_use::look);
  if (!source) return store_trouble(source.error());
  if (arguments.json) return list_json(**source, arguments);
  std::vector<std::vector<std::string>> rows{{"CACHE", "VERSION", "BYTES", "EXPIRES", "KEY"}};
  const auto listed = (*source)->list([&](const entry_info& entry) {
    if (arguments.cache && entry.cache != *arguments.cache) return true;
    rows.push_back({printable(entry.cache), printable(entry.version),
                    std::to_string(entry.payload_bytes), expiry_text(entry), key_text(entry)});
    return true;
  });
  if (!listed) return store_trouble(listed.error());
  std::ostringstream out;
  print_table(out, rows, {false, false, true, false, false});
  return print(out.str());
}

namespace {

json json_of(const remote_answer& remote) {
  return {{"url", remote.place},
          {"state", remote.state},
          {"problem", remote.problem},
          {"answer_ms", remote.answer_ms}};
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

} // namespace

status stats(const config& settings, const store_arguments& arguments) {
  const auto source = open_store(settings, store_use::look);
  if (!source) return store_trouble(source.error());
  if (arguments.zero) {
    if (front::forget_counts_of_compiles(settings.store)) return yes;
    return report({errc::io, "cannot write " + (settings.store / "compiles.count").string()});
  }
  const auto compiles = front::counts_of_compiles(settings.store);
  const auto s = (*source)->stats();
  std::optional<remote_answer> remote;
  if (!settings.remote.url.empty()) remote = ask_remote(settings.remote);
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
                       {"compiles", json_of(compiles)},
                       {"watching", watching.empty() ? json(true) : json(watching)},
                       {"remote", remote ? json_of(*remote) : json(nullptr)}}));
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
  if (remote) rows.push_back({"remote", text_of(*remote)});
  std::ostringstream out;
  print_table(out, rows, {false, false});
  return print(out.str());
}

} // namespace hearth::cli
