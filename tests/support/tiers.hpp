// The local tiers for actor tests: a real store in a temporary directory, its disk shards and one
// memory shard, stepped by hand. `other_process` gives a second set over the same directory, with
// leases of its own, as another process would have.
#pragma once

#include "actors/disk_shard.hpp"
#include "actors/memory_shard.hpp"
#include "actors/shard_router.hpp"
#include "messages/key.hpp"
#include "tests/support/deterministic.hpp"
#include "tests/support/meddled_store.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

namespace hearth::test {

inline cache_key key_in(const std::string& cache, const key& k) {
  const auto id = cache_id::make(cache).value();
  // One number for each name: a test's caches differ by name alone.
  const auto number = static_cast<std::uint32_t>(id.seed());
  return {std::make_shared<const named_cache>(named_cache{id, number, id.seed() ^ process_seed()}),
          k.encoded()};
}

/// One process's tiers.
struct tiers {
  tiers(deterministic& in, const std::filesystem::path& directory) {
    storage::store_options options;
    options.directory = directory;
    options.sync_interval = std::chrono::milliseconds(0);
    auto opened = storage::store::open(std::move(options));
    REQUIRE_MESSAGE(opened, opened.error().text());
    store = meddled = std::make_shared<meddled_store>(std::move(*opened));
    config.view = std::make_shared<storage::memory_view>(storage::memory_index_options{}, store);
    config.all_views = {config.view};
    config.store = store;
    config.leases = std::move(store->open_leases().value());
    config.log = in.log_to(log);
    for (unsigned i = 0; i < store->shards(); ++i)
      config.disk_shards.push_back(
          in.keep(in.system.spawn(actors::disk_shard, store, i, config.log)));
    shard = in.keep(in.system.spawn(actors::memory_shard, config));
    router = actors::shard_router({shard});
  }

  std::vector<std::string> log;
  std::shared_ptr<meddled_store> meddled;
  std::shared_ptr<storage::store> store; ///< the same
  actors::memory_shard_config config;
  memory_shard_actor shard;
  actors::shard_router router;
};

/// Memory alone.
inline memory_shard_actor memory_only(deterministic& in) {
  actors::memory_shard_config config;
  config.view = std::make_shared<storage::memory_view>(storage::memory_index_options{}, nullptr);
  config.all_views = {config.view};
  config.log = [](log_level, std::string_view) {};
  return in.keep(in.system.spawn(actors::memory_shard, config));
}

} // namespace hearth::test
