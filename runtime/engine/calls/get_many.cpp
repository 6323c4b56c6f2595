// get_many: the views of all shards first, then disk; one message per shard for the remaining keys.
#include "runtime/engine/calls/get_many.hpp"

#include "runtime/engine/calls/requests.hpp"
#include "runtime/engine/calls/tiers.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace hearth::engine {
namespace {

constexpr std::size_t window = 64; // keys whose entries are prefetched together

// Appends an answer for each of `keys`: the hits in memory, and misses for the others, whose
// positions go to `missing`.
void find_in_memory(runtime_core& core, const named_cache& cache, std::span<const key> keys,
                    lookup_list& answers, std::vector<std::size_t>& missing) {
  std::array<std::uint64_t, window> hashes;
  std::array<const storage::memory_view*, window> views;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    hashes[i] = fast_hash(keys[i].encoded(), cache.memory_seed);
    views[i] = &core.view_of(hashes[i]);
    views[i]->index().prefetch(hashes[i]);
  }
  for (std::size_t i = 0; i < keys.size(); ++i)
    views[i]->index().prefetch_entry(hashes[i], keys[i].encoded().size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto value = views[i]->get(cache.number, keys[i].encoded(), hashes[i], cache.lookups);
    if (value) [[likely]] {
      answers.emplace_back(lookup{tier::memory, std::move(value)});
    } else {
      missing.push_back(answers.size());
      answers.emplace_back();
    }
  }
}

} // namespace

local_answers get_locally(runtime_core& core, const named_cache_ptr& cache,
                          std::span<const key> keys) {
  local_answers result;
  std::vector<std::size_t> not_in_memory;
  if (cache->memory) {
    result.answers.reserve(keys.size());
    for (std::size_t first = 0; first < keys.size(); first += window)
      find_in_memory(core, *cache, keys.subspan(first, std::min(window, keys.size() - first)),
                     result.answers, not_in_memory);
  } else {
    result.answers.resize(keys.size());
    not_in_memory.resize(keys.size());
    std::iota(not_in_memory.begin(), not_in_memory.end(), std::size_t{0});
  }
  for (const auto number : not_in_memory) {
    const wanted_key wanted(cache, keys[number].encoded());
    if (auto good = check_key(wanted.bytes); !good)
      result.answers[number] = fail(good.error());
    else if (auto found = find_on_disk(core, wanted))
      result.answers[number] = std::move(*found);
    else
      result.missing.push_back(number);
  }
  return result;
}

future<lookup_list> get_missing(runtime_core& core, const named_cache_ptr& cache,
                                std::span<const key> keys, local_answers known,
                                const call_options& options) {
  using reply = expected<lookup_list>;
  if (auto no = core.refusal()) return reply(fail(*no));
  if (auto over = over_at_once(options)) return reply(fail(*over));
  const auto shards = core.views().size();
  std::vector<std::vector<std::pair<std::size_t, std::uint64_t>>> of_shard(shards);
  for (const auto position : known.missing) {
    const auto hash = fast_hash(keys[position].encoded(), cache->memory_seed);
    of_shard[actors::memory_shard_of(hash, shards)].emplace_back(position, hash);
  }
  auto batch = std::make_shared<get_batch>(cache, std::move(known.answers));
  for (const auto& items : of_shard)
    for (const auto& [position, hash] : items)
      batch->add(position, keys[position].encoded(), hash);
  if (batch->size() == 0) return reply(batch->take_answers());
  auto place = core.take_slot();
  if (!place) return reply(fail(place.error()));
  auto state = call_state<lookup_list>::begin(options.stop(), std::move(*place));
  batch->deliver_to(batch_completion(state));
  std::uint64_t first = 0;
  for (std::size_t shard = 0; shard < shards; ++shard) {
    const auto last = first + of_shard[shard].size();
    if (first != last)
      actors::send_from_thread(core.shards().all()[shard], verb::get_v, batch, first, last);
    first = last;
  }
  return future<lookup_list>(std::move(state));
}

future<lookup_list> get_by_message(runtime_core& core, const named_cache_ptr& cache,
                                   std::span<const key> keys, const call_options& options) {
  local_answers none{lookup_list(keys.size()), {}};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (auto good = check_key(keys[i].encoded()); good)
      none.missing.push_back(i);
    else
      none.answers[i] = fail(good.error());
  }
  return get_missing(core, cache, keys, std::move(none), options);
}

} // namespace hearth::engine
