// Writes an entry that may be there already.
#pragma once

#include "actors/shard_router.hpp"
#include "actors/shared_promise.hpp"

#include <chrono>
#include <functional>

namespace hearth::actors {

/// Stores the value and calls `next` with what came of it. An entry that says the same is left as
/// it is, and one that is not there is inserted: a put makes other processes drop what they hold in
/// memory.
template <class Self>
void replace(Self self, const shard_router& shards, const cache_key& key, const artifact& value,
             std::function<void(expected<done>)> next) {
  constexpr auto timeout = std::chrono::minutes{2};
  const auto shard = shards.owner_of(key);
  const auto failed = [next](const caf::error& why) { next(fail(from_caf(why))); };
  const auto put = [=] {
    self->request(shard, timeout, verb::put_v, key, value)
        .then([next](const done& d) { next(d); }, failed);
  };
  const auto insert = [=] {
    self->request(shard, timeout, verb::insert_v, key, value)
        .then(
            [=](insert_outcome outcome) {
              if (outcome == insert_outcome::exists)
                put();
              else
                next(done{});
            },
            failed);
  };
  self->request(shard, timeout, verb::get_v, key)
      .then(
          [=](const lookup& found) {
            if (!found.hit())
              insert();
            else if (same_bytes(found.value, value))
              next(done{});
            else
              put();
          },
          [put](const caf::error&) { put(); });
}

} // namespace hearth::actors
