#include "runtime/engine/calls/tiers.hpp"

#include <caf/send.hpp>

#include <string>
#include <utility>

namespace hearth::engine {

std::optional<expected<lookup>> find_on_disk(runtime_core& core, const wanted_key& wanted) {
  const auto& store = core.store();
  if (!wanted.cache->disk || !store) return std::nullopt;
  if (core.has_to_hear(*wanted.cache) && !core.refusal()) return std::nullopt;
  const storage::entry_key key(wanted.cache->id, wanted.bytes);
  const auto epoch = store->epoch(store->shard_of(key.hash));
  auto read = store->get(key);
  if (read.status == storage::read_status::corrupt)
    return fail(storage::corrupt_entry(wanted.cache->id));
  if (read.status != storage::read_status::hit) return std::nullopt;
  storage::count_lookup(*wanted.cache, tier::disk);
  auto& view = core.view_of(wanted.memory_hash);
  if (wanted.cache->memory && !core.refusal() && view.begin_promotion()) {
    const auto owned = wanted.owned();
    caf::anon_send(core.shards().owner_of(owned), verb::promote_v, owned, read.value, epoch);
  }
  return lookup{tier::disk, std::move(read.value)};
}

std::optional<expected<lookup>> find_locally(runtime_core& core, const wanted_key& key) {
  if (auto value = find_in_memory(core, key)) return lookup{tier::memory, std::move(value)};
  return find_on_disk(core, key);
}

expected<void> check_key(std::string_view key_bytes) {
  if (key_bytes.size() <= max_key_bytes) return {};
  return fail(errc::invalid_key, "a key of " + std::to_string(key_bytes.size()) + " bytes; " +
                                     std::to_string(max_key_bytes) + " are allowed");
}

} // namespace hearth::engine
