#include "runtime/handle/in_memory.hpp"

#include "runtime/engine/calls/logger_guard.hpp"
#include "runtime/engine/calls/tiers.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/handle/runtime.hpp"
#include "runtime/os/files/whole_file.hpp"
#include "storage/text/plain_entries.hpp"

#include <caf/scoped_actor.hpp>

#include <cstdlib>
#include <string>

namespace hearth {
namespace {

using storage::plain_entries;
using storage::plain_entry;

constexpr std::size_t max_file_bytes = std::size_t{1} << 30;
constexpr std::chrono::seconds list_deadline{60};

bool holds(const cache& in, const plain_entry& entry, bool& differs) {
  const auto found =
      engine::find_in_memory(*internals::core(in), {internals::name(in), entry.name.encoded()});
  differs = found && found.payload() != encode(entry.content);
  return static_cast<bool>(found);
}

error in_pair(const plain_entry& entry, errc code, const std::string& why) {
  return error(code, "key " + entry.name.describe() + " " + why)
      .within("pair " + std::to_string(entry.pair));
}

error has_another_value(const plain_entry& entry) {
  return in_pair(entry, errc::invalid_value, "has another value already");
}

// Inserts `entries` and lists the new ones in `inserted`.
expected<void> insert_all(const cache& in, const plain_entries& entries,
                          std::vector<const plain_entry*>& inserted) {
  for (const auto& entry : entries) {
    const auto outcome = in.insert(entry.name, artifact::make(encode(entry.content)));
    if (!outcome) return fail(outcome.error());
    if (*outcome == insert_outcome::inserted) inserted.push_back(&entry);
  }
  for (const auto& entry : entries) {
    bool differs = false;
    if (!holds(in, entry, differs))
      return fail(in_pair(entry, errc::too_large,
                          "does not fit the memory budget beside the others; raise it"));
    if (differs) return fail(has_another_value(entry));
  }
  return {};
}

expected<void> load(const cache& in, const plain_entries& entries) {
  for (const auto& entry : entries) {
    bool differs = false;
    if (holds(in, entry, differs) && differs) return fail(has_another_value(entry));
  }
  std::vector<const plain_entry*> inserted;
  auto loaded = insert_all(in, entries, inserted);
  if (!loaded)
    for (const auto* entry : inserted)
      static_cast<void>(in.erase(entry->name)); // the outcome does not matter
  return loaded;
}

expected<cache> open_with(runtime& in, std::string_view name, const plain_entries& entries,
                          const std::string& where) {
  auto opened = in.open(name, cache_options().in_memory_only());
  if (!opened) return opened;
  if (const auto loaded = load(*opened, entries); !loaded)
    return fail(loaded.error().within(where));
  return opened;
}

expected<entry_list> entries_of(const cache& in) {
  auto& core = *internals::core(in);
  const auto inside = core.enter_system();
  if (!inside) return fail(inside.error());
  entry_list all;
  error problem;
  bool failed = false;
  const engine::logger_guard guard;
  caf::scoped_actor self{core.system()};
  for (const auto& shard : core.shards().all())
    self->request(shard, list_deadline, verb::list_v, internals::name(in)->number)
        .receive([&](const entry_list& some) { all.insert(all.end(), some.begin(), some.end()); },
                 [&](const caf::error& why) {
                   problem = from_caf(why);
                   failed = true;
                 });
  if (failed) return fail(problem);
  return all;
}

expected<plain_entry> plain(const std::string& key_bytes, const artifact& stored) {
  auto name = key::decode(key_bytes);
  if (!name) return fail(name.error());
  auto content = decode_value(stored.payload());
  if (!content)
    return fail(errc::invalid_value, "the entry of key " + name->describe() +
                                         " is no msgpack: " + content.error().text());
  if (!stored.metadata_bytes().empty())
    return fail(errc::invalid_value, "the entry of key " + name->describe() +
                                         " has metadata, which such a file does not hold");
  return plain_entry{std::move(*name), std::move(*content), 0};
}

} // namespace

expected<cache> from_env_var(runtime& in, std::string_view name, std::string_view variable) {
  const std::string terminated(variable);
  const char* const text = std::getenv(terminated.c_str());
  const auto where = "variable " + terminated;
  const auto entries = storage::parse_pairs(text ? text : "");
  if (!entries) return fail(entries.error().within(where));
  return open_with(in, name, *entries, where);
}

expected<cache> from_file_path(runtime& in, std::string_view name,
                               const std::filesystem::path& path) {
  const auto bytes = os::read_whole_file(path, max_file_bytes);
  if (!bytes && bytes.error().code() == errc::not_found)
    return open_with(in, name, {}, path.string());
  if (!bytes) return fail(bytes.error());
  const auto entries = storage::decode_map(*bytes);
  if (!entries) return fail(entries.error().within(path.string()));
  return open_with(in, name, *entries, path.string());
}

expected<void> to_file_path(const cache& from, const std::filesystem::path& path) {
  if (internals::name(from)->disk || internals::name(from)->remote)
    return fail(errc::invalid_argument,
                "cache '" + from.id().name() + "' is not in memory alone: export a bundle instead");
  const auto all = entries_of(from);
  if (!all) return fail(all.error());
  plain_entries entries;
  for (const auto& [key_bytes, stored] : *all) {
    auto entry = plain(key_bytes, stored);
    if (!entry) return fail(entry.error().within("cache '" + from.id().name() + "'"));
    entries.push_back(std::move(*entry));
  }
  return os::replace_whole_file(path, storage::encode_map(std::move(entries)));
}

} // namespace hearth
