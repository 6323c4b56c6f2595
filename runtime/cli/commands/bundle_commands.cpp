#include "runtime/cli/commands/bundle_commands.hpp"

#include "runtime/caches/bundle/bundle.hpp"
#include "runtime/cli/io/json.hpp"
#include "runtime/cli/open_store.hpp"
#include "runtime/handle/runtime.hpp"
#include "runtime/os/files/signing_key_file.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <functional>
#include <sstream>
#include <utility>

namespace hearth::cli {
namespace {

using nlohmann::json;

expected<storage::signing_keys> keys_of(const bundle_arguments& arguments) {
  if (arguments.signing_keys.empty()) return storage::signing_keys{};
  return os::read_signing_keys(arguments.signing_keys);
}

status answer(const bundle_arguments& arguments, const json& object, const std::string& text) {
  return print(arguments.json ? dump(object) : text, yes);
}

// --- export ------------------------------------------------------------------------------------

export_options options_of(const bundle_arguments& arguments) {
  export_options options;
  options.cache = arguments.cache;
  for (const auto& text : arguments.keys)
    options.keys.emplace_back(text);
  return options;
}

status answer(const bundle_arguments& arguments, const export_report& done) {
  if (done.damaged > 0)
    say(fmt::format("hearth: {} damaged entries were left out; see 'hearth verify'\n",
                    done.damaged));
  if (arguments.file == "-") return yes; // the bundle goes to stdout
  return answer(
      arguments,
      {{"file", arguments.file},
       {"records", done.records},
       {"payload_bytes", done.payload_bytes},
       {"damaged", done.damaged}},
      fmt::format("exported: {} entries, {}\n", done.records, human_bytes(done.payload_bytes)));
}

// --- import ------------------------------------------------------------------------------------

// The settings without log and remote tier: an import writes to the disk tier alone.
config local(config settings) {
  settings.log = nullptr;
  settings.jobs = 1;
  settings.remote = {};
  return settings;
}

std::string text_of(const import_report& done) {
  auto text = fmt::format("imported: {} added, {} existed, {}\n", done.added, done.existed,
                          human_bytes(done.payload_bytes));
  for (const auto& [type, count] : done.unknown)
    text += fmt::format("unknown type '{}': {} kept\n", printable(type), count);
  return text;
}

// --- list --------------------------------------------------------------------------------------

std::string key_text(const storage::record_head& head) {
  const auto decoded = key::decode(head.key);
  return decoded ? printable(decoded->describe()) : "(unreadable)";
}

json json_of(const storage::record_head& head) {
  return {{"type", head.type},
          {"cache", head.cache},
          {"version", head.version},
          {"key", key_text(head)},
          {"key_base64", base64(head.key)},
          {"metadata_bytes", head.metadata.size()},
          {"payload_bytes", head.payload_bytes}};
}

std::string signer_of(const storage::bundle_end& end) {
  return end.signed_by ? end.signed_by->key_id : std::string{};
}

status list_json(const bundle_arguments& arguments, const storage::signing_keys& keys) {
  auto records = json::array();
  const auto found = hearth::list_bundle(
      arguments.file, [&](const auto& head) { records.push_back(json_of(head)); }, keys);
  if (!found) return report(found.error());
  const auto signer = signer_of(found->end);
  return print(dump({{"records", std::move(records)},
                     {"payload_bytes", found->payload_bytes},
                     {"digest", found->end.sum.hex()},
                     {"signed_by", signer.empty() ? json(nullptr) : json(signer)}}),
               yes);
}

status list_text(const bundle_arguments& arguments, const storage::signing_keys& keys) {
  std::vector<std::vector<std::string>> rows{{"TYPE", "CACHE", "VERSION", "BYTES", "KEY"}};
  const auto add = [&](const storage::record_head& head) {
    rows.push_back({printable(head.type), printable(head.cache), printable(head.version),
                    std::to_string(head.payload_bytes), key_text(head)});
  };
  if (const auto found = hearth::list_bundle(arguments.file, add, keys); !found)
    return report(found.error());
  std::ostringstream out;
  print_table(out, rows, {false, false, false, true, false});
  return print(out.str(), yes);
}

} // namespace

status export_bundle(const config& settings, const bundle_arguments& arguments) {
  auto options = options_of(arguments);
  auto keys = keys_of(arguments);
  if (!keys) return report(keys.error());
  options.sign = std::move(*keys);
  if (const auto id = cache_id::make(arguments.cache.value_or("default")); !id)
    return report(id.error());
  const auto store = open_store(settings, store_use::look);
  if (!store) return store_trouble(store.error());
  byte_progress shown("exporting");
  options.progress = std::ref(shown);
  const auto done = hearth::export_bundle(**store, arguments.file, options);
  if (done) return answer(arguments, *done);
  const auto ending = report(done.error());
  return done.error().code() == errc::not_found ? no : ending;
}

status import_bundle(const config& settings, const bundle_arguments& arguments) {
  import_options options;
  auto keys = keys_of(arguments);
  if (!keys) return report(keys.error());
  options.signed_by = std::move(*keys);
  runtime rt(local(settings));
  if (!rt.has_disk()) return store_trouble(rt.disk_problem());
  byte_progress shown("importing");
  options.progress = std::ref(shown);
  const auto done = hearth::import_bundle(rt, arguments.file, options);
  if (!done) return report(done.error());
  return answer(arguments,
                {{"added", done->added},
                 {"existed", done->existed},
                 {"payload_bytes", done->payload_bytes},
                 {"types", done->types},
                 {"unknown", done->unknown}},
                text_of(*done));
}

status list_bundle(const config&, const bundle_arguments& arguments) {
  const auto keys = keys_of(arguments);
  if (!keys) return report(keys.error());
  return arguments.json ? list_json(arguments, *keys) : list_text(arguments, *keys);
}

} // namespace hearth::cli
