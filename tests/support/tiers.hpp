// The local tiers for actor tests: a real store in a temporary directory, its disk shards and one
// memory shard, stepped by the test. A second `tiers` over the same directory represents another
// process: it has its own leases.
#pragma once

#include "messages/key.hpp"
#include "runtime/wiring/tiers.hpp"
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
  // One number for each name: the caches of a test differ by name alone.
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
    wiring::tier_ports ports;
    ports.blocking = wiring::blocking_actors::pooled;
    ports.store = store;
    ports.log = in.log_to(log);
    actors = wiring::spawn_tiers(in.system, ports);
    in.keep_all(actors);
    shard = actors.shards.all().front();
    router = actors.shards;
    view = actors.views.front();
  }

  std::vector<std::string> log;
  std::shared_ptr<meddled_store> meddled;
  std::shared_ptr<storage::store> store; ///< the same store
  wiring::tier_actors actors;
  memory_shard_actor shard;
  actors::shard_router router;
  std::shared_ptr<storage::memory_view> view;
};

/// The memory tier alone.
inline memory_shard_actor memory_only(deterministic& in) {
  wiring::tier_ports ports;
  ports.log = [](log_level, std::string_view) {};
  const auto made = wiring::spawn_tiers(in.system, ports);
  in.keep_all(made);
  return made.shards.all().front();
}

} // namespace hearth::test
