#include "runtime/cli/store_commands.hpp"

#include "messages/key.hpp"
#include "runtime/cli/json.hpp"
#include "storage/disk/store.hpp"

#include <nlohmann/json.hpp>

#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <sstream>
#include <vector>

namespace hearth::cli {
namespace {

using nlohmann::json;
using storage::entry_info;

// The store as it is: it is not made, and nothing in it is changed.
expected<std::unique_ptr<storage::store>> open(const config& settings) {
  if (!std::filesystem::exists(settings.store))
    return fail(errc::io, "there is no store at " + settings.store.string() +
                              "; give --store DIR or set HEARTH_STORE");
  storage::store_options options;
  options.directory = settings.store;
  options.budget_bytes = settings.disk_budget_bytes;
  options.read_only = true;
  options.guard_sigbus = true;
  return storage::store::open(std::move(options));
}

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

status print(const std::string& text) {
  return write_stdout(text) ? yes : report({errc::io, "cannot write to stdout"});
}

} // namespace

status list(const config& settings, const store_arguments& arguments) {
  const auto source = open(settings);
  if (!source) return report(source.error());
  std::vector<std::vector<std::string>> rows{{"CACHE", "VERSION", "BYTES", "EXPIRES", "KEY"}};
  auto objects = json::array();
  const auto listed = (*source)->list([&](const entry_info& entry) {
    if (arguments.cache && entry.cache != *arguments.cache) return true;
    if (arguments.json)
      objects.push_back(json_of(entry));
    else
      rows.push_back({printable(entry.cache), printable(entry.version),
                      std::to_string(entry.payload_bytes), expiry_text(entry), key_text(entry)});
    return true;
  });
  if (!listed) return report(listed.error());
  if (arguments.json) return print(dump(objects));
  std::ostringstream out;
  print_table(out, rows, {false, false, true, false, false});
  return print(out.str());
}

status stats(const config& settings, const store_arguments& arguments) {
  const auto source = open(settings);
  if (!source) return report(source.error());
  const auto s = (*source)->stats();
  if (arguments.json)
    return print(dump({{"store", settings.store.string()},
                       {"entries", s.entries},
                       {"live_bytes", s.live_bytes},
                       {"disk_bytes", s.disk_bytes},
                       {"index_bytes", s.index_bytes},
                       {"segments", s.segments},
                       {"shards", (*source)->shards()},
                       {"budget_bytes", s.budget_bytes}}));
  std::ostringstream out;
  print_table(out,
              {{"store", settings.store.string()},
               {"entries", std::to_string(s.entries)},
               {"live", human_bytes(s.live_bytes)},
               {"on disk", human_bytes(s.disk_bytes)},
               {"index", human_bytes(s.index_bytes)},
               {"segments", fmt::format("{} in {} shards", s.segments, (*source)->shards())},
               {"budget", human_bytes(s.budget_bytes)}},
              {false, false});
  return print(out.str());
}

} // namespace hearth::cli
