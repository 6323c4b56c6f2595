#include "runtime/cli/commands/entry_commands.hpp"

#include "messages/time_text.hpp"
#include "runtime/cli/io/files.hpp"
#include "runtime/cli/io/json.hpp"
#include "runtime/cli/io/key_file.hpp"
#include "runtime/cli/open_store.hpp"
#include "runtime/fingerprints/kept_details.hpp"
#include "runtime/handle/runtime.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <fmt/format.h>
#include <functional>

namespace hearth::cli {
namespace {

using nlohmann::json;

// A runtime over the store, and the named cache in it.
struct opened_cache {
  explicit opened_cache(const config& settings)
      : rt(settings) {}
  runtime rt;
  std::optional<cache> entries;
};

// Whether a remote tier is asked for and cannot be made: a file of keys is missing, say.
bool lacks_remote(const config& settings, const runtime& rt) {
  return !settings.remote.url.empty() && !rt.has_remote();
}

expected<std::unique_ptr<opened_cache>> open(const config& settings,
                                             const entry_arguments& arguments) {
  auto result = std::make_unique<opened_cache>(settings);
  if (!result->rt.has_disk())
    return fail(errc::io, "the store cannot be used: " + result->rt.disk_problem().text());
  auto entries = result->rt.open(arguments.cache);
  if (!entries) return fail(entries.error());
  result->entries = std::move(*entries);
  return result;
}

// Checks the arguments before the store is opened.
expected<void> check(const entry_arguments& arguments) {
  const auto id = cache_id::make(arguments.cache);
  if (!id) return fail(id.error());
  if (key(arguments.key).encoded().size() > max_key_bytes)
    return fail(errc::invalid_key, "a key of " + std::to_string(arguments.key.size()) + " bytes; " +
                                       std::to_string(max_key_bytes) + " are allowed");
  return {};
}

// Turns the log off: the commands themselves report an unusable store.
config quiet(config settings) {
  settings.log = nullptr;
  settings.jobs = 1;
  return settings;
}

// Whether no entry can be found: there is no store yet, and no remote tier.
bool is_nowhere(const config& settings) {
  return settings.remote.url.empty() && has_no_store(settings.store);
}

status answer(const entry_arguments& arguments, std::string_view word, status ending) {
  const json object{{"cache", arguments.cache}, {"key", arguments.key}, {"status", word}};
  const auto text = arguments.json ? dump(object) : std::string(word) + "\n";
  return print(text, ending);
}

status miss(const entry_arguments& arguments) {
  if (arguments.json) return answer(arguments, "miss", no);
  say(fmt::format("hearth: no entry {} in cache '{}'\n", printable(key(arguments.key).describe()),
                  printable(arguments.cache)));
  return no;
}

status show(const entry_arguments& arguments, const lookup& found) {
  const auto payload = found.value.payload();
  const bool to_file = arguments.output && *arguments.output != "-";
  if (to_file)
    if (auto written = write_file(*arguments.output, payload); !written)
      return report(written.error());
  if (arguments.json) {
    json result{{"cache", arguments.cache},
                {"key", arguments.key},
                {"status", "hit"},
                {"tier", to_string(found.from)},
                {"bytes", payload.size()}};
    const auto metadata = found.value.metadata();
    if (metadata) result["metadata"] = display_json(value{*metadata});
    if (!to_file) result["payload_base64"] = base64(payload);
    return print(dump(result), yes);
  }
  return to_file ? yes : print(payload, yes);
}

// The metadata beside the payload: the key's details, if given. They must belong to the key.
expected<value::map> metadata_of(const entry_arguments& arguments) {
  value::map metadata;
  if (arguments.details.empty()) return metadata;
  if (arguments.details == "-" && arguments.file == "-")
    return fail(errc::invalid_argument, "stdin cannot be both the content and the details");
  const auto key = read_key(arguments.details);
  if (!key) return fail(key.error());
  if (key->bypass)
    return fail(errc::invalid_argument,
                arguments.details + " bypasses the cache: " + *key->bypass + "; store nothing");
  if (key->text() != arguments.key)
    return fail(errc::invalid_argument, "the key of " + arguments.details + " is " + key->text() +
                                            ", not '" + arguments.key + "'");
  if (auto kept = fingerprints::keep_details(metadata, key->details); !kept)
    return fail(kept.error());
  return metadata;
}

// The options of the call that stores the entry: how long it lasts.
expected<call_options> options_of(const entry_arguments& arguments) {
  if (arguments.ttl.empty()) return call_options();
  const auto ttl = parse_milliseconds(arguments.ttl);
  if (!ttl)
    return fail(errc::invalid_argument,
                "--ttl " + arguments.ttl + ": say a number and a unit, as 90s, 2h or 7d");
  return call_options().with_ttl(*ttl);
}

// For a change. Without the remote tier that is asked for, other hosts would keep what they have,
// and nobody would hear of it.
expected<std::unique_ptr<opened_cache>> open_to_write(const config& settings,
                                                      const entry_arguments& arguments) {
  auto target = open(settings, arguments);
  if (target && lacks_remote(settings, (*target)->rt)) return fail((*target)->rt.remote_problem());
  return target;
}

using entry_writer = std::function<status(cache&, const artifact&, const call_options&)>;

status write_entry(const config& settings, const entry_arguments& arguments,
                   const entry_writer& write) {
  if (auto good = check(arguments); !good) return report(good.error());
  const auto options = options_of(arguments);
  if (!options) return report(options.error());
  const auto metadata = metadata_of(arguments);
  if (!metadata) return report(metadata.error());
  auto payload = read_input(arguments.file);
  if (!payload) return report(payload.error());
  auto target = open_to_write(quiet(settings), arguments);
  if (!target) return report(target.error());
  return write(*(*target)->entries, artifact::make(*payload, *metadata), *options);
}

enum class remote_part { none, told, not_told };

// Shuts the runtime down. Returns whether the remote tier has acknowledged the only write; none: it
// was not to get it.
remote_part remote_part_of(runtime& rt) {
  rt.shutdown();
  const auto remote = rt.stats().remote;
  if (!remote) return remote_part::none;
  if (remote->waiting + remote->in_flight + remote->unheard != 0) return remote_part::not_told;
  auto part = remote_part::none;
  for (const auto& one : remote->caches) {
    if (one.lost != 0) return remote_part::not_told;
    if (one.puts != 0) part = remote_part::told;
  }
  return part;
}

// What an erase did on this host, and whether the remote tier was told.
status answer_of_erase(const entry_arguments& arguments, std::string_view here, bool is_told,
                       status ending) {
  if (!arguments.json)
    return print(
        fmt::format("{}{}\n", here,
                    is_told ? ", and the remote was told" : " here; the remote has not heard yet"),
        ending);
  const json object{{"cache", arguments.cache},
                    {"key", arguments.key},
                    {"status", here},
                    {"remote", is_told ? "told" : "not_told"}};
  return print(dump(object), ending);
}

} // namespace

status get_entry(const config& settings, const entry_arguments& arguments) {
  if (auto good = check(arguments); !good) return report(good.error());
  if (is_nowhere(settings)) return miss(arguments);
  auto source = open(quiet(settings), arguments);
  if (!source) return report(source.error());
  if (lacks_remote(settings, (*source)->rt))
    say("hearth: going on without a remote tier: " + (*source)->rt.remote_problem().text() + "\n");
  auto found = (*source)->entries->get(arguments.key);
  if (!found) return report(found.error());
  return found->hit() ? show(arguments, *found) : miss(arguments);
}

status insert_entry(const config& settings, const entry_arguments& arguments) {
  return write_entry(settings, arguments,
                     [&](cache& entries, const artifact& payload, const call_options& options) {
                       const auto outcome = entries.insert(arguments.key, payload, options);
                       if (!outcome) return report(outcome.error());
                       return answer(arguments, to_string(*outcome),
                                     *outcome == insert_outcome::inserted ? yes : no);
                     });
}

status put_entry(const config& settings, const entry_arguments& arguments) {
  return write_entry(settings, arguments,
                     [&](cache& entries, const artifact& payload, const call_options& options) {
                       const auto stored = entries.put(arguments.key, payload, options);
                       return stored ? answer(arguments, "stored", yes) : report(stored.error());
                     });
}

status erase_entry(const config& settings, const entry_arguments& arguments) {
  if (auto good = check(arguments); !good) return report(good.error());
  if (is_nowhere(settings)) return answer(arguments, "absent", no);
  auto target = open_to_write(quiet(settings), arguments);
  if (!target) return report(target.error());
  const auto erased = (*target)->entries->erase(arguments.key);
  if (!erased) return report(erased.error());
  const auto ending = *erased ? yes : no;
  const auto here = *erased ? "erased" : "absent";
  switch (remote_part_of((*target)->rt)) {
  case remote_part::none: return answer(arguments, here, ending);
  case remote_part::told: return answer_of_erase(arguments, here, true, ending);
  case remote_part::not_told: break;
  }
  fmt::print(
      stderr,
      "hearth: the remote has not heard yet: other hosts keep their copies until a later run "
      "on this host reaches it\n");
  return answer_of_erase(arguments, here, false, ending);
}

} // namespace hearth::cli
